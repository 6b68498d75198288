// Addresses of files that code loads by name. In the built page, another module with hashed names replaces this one
// (Scripts/build-page.py).

import { at } from "./base.js";

/** The client core. */
export const coreAddress = at("/assets/generated/client.wasm");

/** The import rules in WebAssembly. */
export const importAddress = at("/assets/generated/import.wasm");

/** @param {string} name @returns {string} The address of an icon. */
export const iconAddress = (name) => at(`/assets/icons.svg#${name}`);
