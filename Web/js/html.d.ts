// The part of CodeMirror's HTML that the page uses, as far as type checks need it.

export function html(options?: { matchClosingTags?: boolean }): { language: any; support: any };
export function css(): { language: any; support: any };
export function javascript(options?: { jsx?: boolean; typescript?: boolean }): { language: any; support: any };
