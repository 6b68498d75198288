// The style sheet of what helps with writing. The built page has its text in a module in the place of this one
// (Scripts/build-page.py).

import { at } from "../../ground/base.js";

/** @returns {Promise<string>} */
export const writingStyles = () => fetch(at("/assets/css/writing.css")).then((response) => response.text());
