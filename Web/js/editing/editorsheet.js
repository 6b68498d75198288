// The style sheet of the editor's shadow root. In the built page, a module with the sheet's text replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const editorStyles = () => fetch(at("/assets/css/editor.css")).then((response) => response.text());
