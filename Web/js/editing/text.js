// The part of the page that draws a note's text: CodeMirror, Markdown, and the styles of both. It is the largest part,
// so it is fetched separately. Until it has arrived, the user types into a plain field.

import { createEditor } from "./editor.js";
import { editorStyles } from "./editorsheet.js";
import { createReader } from "./reader.js";

const sheet = new CSSStyleSheet();
const sheets = [sheet];
sheet.replaceSync(await editorStyles());

/** @param {Pick<Parameters<typeof createEditor>[0], "host" | "note">} options */
export const editorIn = (options) => createEditor({ ...options, sheets });

/** @param {Pick<Parameters<typeof createReader>[0], "host" | "editsBetween">} options */
export const readerIn = (options) => createReader({ ...options, sheets });
