// The style sheet of the editor's shadow root. The built page has its text in a module in the place of this
// one (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const editorStyles = () => fetch(at("/assets/css/editor.css")).then((response) => response.text());
