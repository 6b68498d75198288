// The part of CodeMirror's languages that the page uses, as far as type checks need it.

type Support = { language: any; support: any };
/** A tokenizer; `streamed` makes a language of it. */
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
