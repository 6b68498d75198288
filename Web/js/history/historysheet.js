// The style sheet of the history. In the built page, another module that contains its text replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const historyStyles = () => fetch(at("/assets/css/history.css")).then((response) => response.text());
