// The style sheet of the writing aids. In the built page, a module with the sheet's text replaces this one
// (Scripts/build-page.py).

import { at } from "../../ground/base.js";

/** @returns {Promise<string>} */
export const writingStyles = () => fetch(at("/assets/css/writing.css")).then((response) => response.text());
