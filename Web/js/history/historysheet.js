// The style sheet of the history. The built page has its text in a module in the place of this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const historyStyles = () => fetch(at("/assets/css/history.css")).then((response) => response.text());
