// The style sheet of rendered notes. In the built page, another module that contains its text replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const pageStyles = () => fetch(at("/assets/css/rendered.css")).then((response) => response.text());
