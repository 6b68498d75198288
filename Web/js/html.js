// HTML for Markdown, with the styles and scripts within it: a part of its own, for few notes contain HTML.
export { css, html, javascript } from "../vendor/codemirror/html.js";
