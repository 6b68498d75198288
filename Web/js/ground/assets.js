// Files of the page that code asks for by name. The built page has them under names that carry a hash of
// their content, and another module in the place of this one (Scripts/build-page.py).

import { at } from "./base.js";

/** The client core. */
export const coreAddress = at("/assets/generated/client.wasm");

/** The rules of imports. */
export const importAddress = at("/assets/generated/import.wasm");

/** @param {string} name @returns {string} The address of an icon. */
export const iconAddress = (name) => at(`/assets/icons.svg#${name}`);
