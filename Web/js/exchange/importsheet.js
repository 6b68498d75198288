// The style sheet of the import. The built page has its text in a module in the place of this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const importStyles = () => fetch(at("/assets/css/import.css")).then((response) => response.text());
