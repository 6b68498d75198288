// Runs before the first paint, so that a chosen theme does not flash. A classic script on purpose.
(() => {
  try {
    const theme = localStorage.getItem("parley.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; then the system's theme counts.
  }
})();
