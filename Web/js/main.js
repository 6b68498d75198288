// Starts the page, and reports the result to starting.js.

import { loadPart } from "./ground/parts.js";

// Addresses in the document are relative to the page's address, which changes.
/** @type {NodeListOf<HTMLAnchorElement | HTMLLinkElement>} */
const links = document.querySelectorAll("a[data-link], link[rel=icon]");
for (const link of links) link.setAttribute("href", link.href);
for (const use of document.querySelectorAll('use:not([href^="#"])')) {
  use.setAttribute("href", new URL(use.getAttribute("href") ?? "", location.href).href);
}

loadPart(() => import("./app.js")).then(
  () => document.dispatchEvent(new Event("parley-started")),
  (error) => {
    console.error(error);
    document.dispatchEvent(new Event("parley-failed"));
  },
);
