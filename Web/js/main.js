// Starts the page, and says so where it cannot be started.

// Addresses in the document are relative to that with which it was opened, which changes.
/** @type {NodeListOf<HTMLAnchorElement | HTMLLinkElement>} */
const links = document.querySelectorAll("a[data-link], link[rel=icon]");
for (const link of links) link.setAttribute("href", link.href);
for (const use of document.querySelectorAll("use")) {
  use.setAttribute("href", new URL(use.getAttribute("href") ?? "", location.href).href);
}

import("./app.js").catch((error) => {
  console.error(error);
  const message = document.createElement("p");
  message.className = "broken";
  message.setAttribute("role", "alert");
  message.textContent =
    "Parley could not start here. Reload the page; if that does not help, the browser may be too " +
    "old, or a part of the page could not be fetched.";
  document.body.append(message);
});
