// HTML for Markdown, with the styles and scripts within it: a part of its own, for few notes have any.
export { css, html, javascript } from "../vendor/codemirror/html.js";
