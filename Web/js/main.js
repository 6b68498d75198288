// Loads the page, and reports the result to starting.js.

import { loadPart } from "./ground/parts.js";

// Make the relative addresses of the document absolute, because the page's address changes.
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
