// What the page uses of CodeMirror's HTML, as far as checking needs it.

export function html(options?: { matchClosingTags?: boolean }): { language: any; support: any };
export function css(): { language: any; support: any };
export function javascript(options?: { jsx?: boolean; typescript?: boolean }): { language: any; support: any };
