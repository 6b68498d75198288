// The style sheet of the import. In the built page, another module that contains its text replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const importStyles = () => fetch(at("/assets/css/import.css")).then((response) => response.text());
