// What the page uses of CodeMirror's languages, as far as checking needs it.

type Support = { language: any; support: any };
/** A tokenizer, of which `streamed` makes a language. */
type Tokens = { readonly name: string };

export function streamed(tokens: Tokens): Support;
export function python(options: object): Tokens;
export function go(): Support;
export function json(): Support;
export function rust(): Support;
export function sql(): Support;
export function xml(): Support;
export function yaml(): Support;
export const c: Tokens, cpp: Tokens, csharp: Tokens, diff: Tokens, dockerFile: Tokens, java: Tokens, kotlin: Tokens;
export const lua: Tokens, nginx: Tokens, objectiveC: Tokens, perl: Tokens, powerShell: Tokens, properties: Tokens;
export const r: Tokens, ruby: Tokens, scala: Tokens, shell: Tokens, swift: Tokens, toml: Tokens;
