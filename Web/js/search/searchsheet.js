// The style sheet of the search. The built page has its text in a module in the place of this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const searchStyles = () => fetch(at("/assets/css/search.css")).then((response) => response.text());
