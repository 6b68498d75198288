// Chooses the page's language before the first paint: the one selected on the page, or the first of the browser's
// languages that the page has. A classic script, so that it runs at once. language.js loads the texts.
(() => {
  const known = ["en", "de", "es", "fr", "ja", "ar"];
  /** Maximum time to wait for the texts of the language before English ones are shown; milliseconds. */
  const patience = 2_000;
  /** The files of the languages, relative to this script; Scripts/build-page.py inserts them. */
  const files = /** @type {Record<string, string>} */ ({ "@languages": "" });

  /** @type {string | null} */
  let chosen = null;
  try {
    chosen = localStorage.getItem("parley.language");
  } catch {
    // If storage is forbidden, the browser's language is used.
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
