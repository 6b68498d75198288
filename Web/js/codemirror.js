// The one place that names the vendored editor (Scripts/vendor-codemirror.sh).
// What of it is used is typed in codemirror.d.ts.
export * from "../vendor/codemirror/index.js";
export { markdown, markdownLanguage } from "../vendor/codemirror/markdown.js";
