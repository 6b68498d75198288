// HTML for Markdown, with the styles and scripts within it: a part of its own, for few notes have any.
export { html } from "../vendor/codemirror/html.js";
