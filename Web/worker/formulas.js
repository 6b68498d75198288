// Draws formulas as MathML, one for each message. A worker, since a formula may take forever: then the page ends it.
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
    // KaTeX marks the place by marks below letters, each of which a screen reader would read.
    self.postMessage({ problem: String(error.message).replace(/^KaTeX parse error: /, "").replace(/\u0332/g, "") });
  }
});
self.postMessage("ready");
