// Draws formulas as MathML, one for each message. A worker, since a formula may take for ever: the page ends it then.
//
// The built page has KaTeX itself in the place of the import (Scripts/build-page.py).

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
    // Marks below letters show the place; a screen reader would read each.
    self.postMessage({ problem: String(error.message).replace(/^KaTeX parse error: /, "").replace(/\u0332/g, "") });
  }
});
self.postMessage("ready");
