// The part of the page that shows formatted notes: ProseMirror, and the styles. Only formatted notes fetch it.

import { editorStyles } from "../editing/editorsheet.js";
import { writingStyles } from "../editing/writing/writingsheet.js";
import { createFormattedEditor } from "./editor.js";
import { formattedStyles } from "./formattedsheet.js";

export { changesBetween } from "./rewriting.js";
export { documentOf } from "./document.js";

const sheet = new CSSStyleSheet();
const [common, own, writing] = await Promise.all([
  editorStyles(),
  formattedStyles(),
  writingStyles(),
]);
sheet.replaceSync(`${common}\n${writing}\n${own}`);
// The bars are in the page itself.
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** @param {Pick<Parameters<typeof createFormattedEditor>[0], "host" | "note">} options */
export const formattedEditorIn = (options) => createFormattedEditor({ ...options, sheets: [sheet] });
