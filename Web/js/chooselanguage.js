// The page's language, before the first paint: the one that was chosen on the page, or the first of the browser's
// that there is. A classic script on purpose. language.js has the texts.
(() => {
  const known = ["en", "de", "es", "fr", "ja", "ar"];
  /** How long the page waits for the texts of its language before it shows English ones; milliseconds. */
  const patience = 2_000;
  /** The files of the built page, as this script's own file names them (Scripts/build-page.py). */
  const files = /** @type {Record<string, string>} */ ({ "@languages": "" });

  /** @type {string | null} */
  let chosen = null;
  try {
    chosen = localStorage.getItem("parley.language");
  } catch {
    // Storage may be forbidden; then the browser's language counts.
  }
  const wanted = [chosen, ...navigator.languages].map((tag) => String(tag).toLowerCase().split("-")[0] ?? "");
  const language = wanted.find((one) => known.includes(one)) ?? "en";
  const root = document.documentElement;
  root.lang = language;
  root.dir = language === "ar" ? "rtl" : "ltr";
  if (language === "en") return;
  root.dataset.waits = "";
  setTimeout(() => delete root.dataset.waits, patience);
  const file = files[language];
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  if (!file || !script) return;
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.href = new URL(file, script.src).href;
  document.head.append(link);
})();
