// The only module that names the vendored editor (Scripts/vendor-codemirror.sh).
// codemirror.d.ts declares the types that the page uses.
export * from "../vendor/codemirror/index.js";
export { markdown, markdownLanguage } from "../vendor/codemirror/markdown.js";
