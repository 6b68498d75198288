// The one place that names the vendored editor (Scripts/vendor-codemirror.sh).
// codemirror.d.ts has the types of what the page uses.
export * from "../vendor/codemirror/index.js";
export { markdown, markdownLanguage } from "../vendor/codemirror/markdown.js";
