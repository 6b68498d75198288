// The style sheet of the search. In the built page, another module that contains its text replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const searchStyles = () => fetch(at("/assets/css/search.css")).then((response) => response.text());
