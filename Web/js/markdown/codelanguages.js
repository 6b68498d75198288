// Languages of code in notes, by the word after the fence. Each is loaded when a text first uses it.

/**
 * The languages by name. A function creates one from the part that contains it (code.js or html.js).
 *
 * @typedef {typeof import("../code.js")} Code
 * @typedef {typeof import("../html.js")} HTML
 * @type {Record<string, {code?: (part: Code) => any, html?: (part: HTML) => any, spellings?: string[]}>}
 */
const languages = {
  c: { code: ({ streamed, c }) => streamed(c), spellings: ["h"] },
  cpp: { code: ({ streamed, cpp }) => streamed(cpp), spellings: ["c++", "cc", "cxx", "hpp"] },
  csharp: { code: ({ streamed, csharp }) => streamed(csharp), spellings: ["c#", "cs"] },
  css: { html: ({ css }) => css() },
  diff: { code: ({ streamed, diff }) => streamed(diff), spellings: ["patch"] },
  dockerfile: { code: ({ streamed, dockerFile }) => streamed(dockerFile), spellings: ["docker"] },
  go: { code: ({ go }) => go(), spellings: ["golang"] },
  html: { html: ({ html }) => html({ matchClosingTags: false }), spellings: ["xhtml"] },
  ini: { code: ({ streamed, properties }) => streamed(properties), spellings: ["conf", "properties"] },
  java: { code: ({ streamed, java }) => streamed(java) },
  javascript: { html: ({ javascript }) => javascript({ jsx: true }), spellings: ["js", "jsx", "mjs", "node"] },
  json: { code: ({ json }) => json(), spellings: ["json5", "jsonc"] },
  kotlin: { code: ({ streamed, kotlin }) => streamed(kotlin), spellings: ["kt"] },
  lua: { code: ({ streamed, lua }) => streamed(lua) },
  nginx: { code: ({ streamed, nginx }) => streamed(nginx) },
  objectivec: { code: ({ streamed, objectiveC }) => streamed(objectiveC), spellings: ["objc", "objective-c"] },
  perl: { code: ({ streamed, perl }) => streamed(perl), spellings: ["pl"] },
  powershell: { code: ({ streamed, powerShell }) => streamed(powerShell), spellings: ["ps1"] },
  python: { code: ({ streamed, python }) => streamed(python({})), spellings: ["py", "python3"] },
  r: { code: ({ streamed, r }) => streamed(r) },
  ruby: { code: ({ streamed, ruby }) => streamed(ruby), spellings: ["rb"] },
  rust: { code: ({ rust }) => rust(), spellings: ["rs"] },
  scala: { code: ({ streamed, scala }) => streamed(scala) },
  shell: { code: ({ streamed, shell }) => streamed(shell), spellings: ["bash", "console", "sh", "zsh"] },
  sql: { code: ({ sql }) => sql(), spellings: ["mysql", "postgres", "postgresql", "sqlite"] },
  swift: { code: ({ streamed, swift }) => streamed(swift) },
  toml: { code: ({ streamed, toml }) => streamed(toml) },
  typescript: { html: ({ javascript }) => javascript({ jsx: true, typescript: true }), spellings: ["ts", "tsx"] },
  xml: { code: ({ xml }) => xml(), spellings: ["svg"] },
  yaml: { code: ({ yaml }) => yaml(), spellings: ["yml"] },
};

/** @type {Map<string, string>} Names by spelling. */
const names = new Map(
  Object.entries(languages).flatMap(([name, { spellings = [] }]) => [name, ...spellings].map((one) => [one, name])),
);
/** @type {Map<string, any>} Loaded languages, by name. */
const fetched = new Map();

/**
 * Returns the name of the language that a fence names; undefined for an unknown one.
 *
 * @param {string} info The text after the fence: “js”, “{.python}”, “sh title=x”.
 */
export const nameOfLanguage = (info) => names.get(/[\w#+-]+/.exec(info)?.[0]?.toLowerCase() ?? "");

/**
 * Returns a language if it is loaded.
 *
 * @param {string} info
 */
export const loadedLanguage = (info) => fetched.get(nameOfLanguage(info) ?? "");

/**
 * Loads a language.
 *
 * @param {string} name A result of `nameOfLanguage`.
 * @returns {Promise<any>} CodeMirror's `Language`.
 */
export async function fetchLanguage(name) {
  const known = fetched.get(name);
  if (known) return known;
  const { code, html } = languages[name] ?? {};
  const support = code ? code(await import("../code.js")) : html?.(await import("../html.js"));
  fetched.set(name, support?.language);
  return support?.language;
}
