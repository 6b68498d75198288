// Applies the chosen theme before the first paint, so that the other one does not flash. A classic script for this
// reason.
(() => {
  try {
    const theme = localStorage.getItem("parley.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // If storage is forbidden, the system's theme is used.
  }
})();
