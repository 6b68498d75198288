// Draws formulas as MathML, one for each message. It is a worker because a formula may take very long: the page then
// terminates it.
//
// In the built page, KaTeX itself replaces the import (Scripts/build-page.py).

importScripts("../vendor/katex/katex.js");

const options = {
  output: "mathml",
  // No links, no classes, no pictures.
  trust: false,
  strict: "ignore",
  maxExpand: 1_000,
  maxSize: 20,
};

self.addEventListener("message", ({ data: { source, isDisplay } }) => {
  try {
    self.postMessage({ drawn: self.katex.renderToString(source, { ...options, displayMode: isDisplay }) });
  } catch (error) {
    // KaTeX marks the position by characters below letters, which a screen reader would read.
    self.postMessage({ problem: String(error.message).replace(/^KaTeX parse error: /, "").replace(/\u0332/g, "") });
  }
});
self.postMessage("ready");
