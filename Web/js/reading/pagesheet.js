// The style sheet of what notes contain as pages. The built page has its text in a module in the place of this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const pageStyles = () => fetch(at("/assets/css/rendered.css")).then((response) => response.text());
