// HTML for Markdown, with styles and scripts. Loaded on demand, because few notes contain HTML.
export { css, html, javascript } from "../vendor/codemirror/html.js";
