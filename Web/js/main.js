// Starts the page, and says so where it cannot be started.

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
