// The styles of formatted notes. (The built page has them in this module.)

import { at } from "../ground/base.js";

/** @returns {Promise<string>} */
export const formattedStyles = async () => (await fetch(at("/assets/css/formatted.css"))).text();
