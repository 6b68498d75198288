// Draws diagrams with Mermaid, one for each message, in a frame without an origin (reading/drawing.js makes it).
//
// The frame has the page's policy and, once these two scripts are loaded, one of its own: nothing else is loaded, and
// styles written in elements have no effect. Mermaid measures its texts with such styles, so they are given to the
// document in the way that a policy allows; the drawing has them in itself, for it is shown as a picture.

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];

/** Styles of the drawing that is being made. */
let styles = "";

const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  if (name !== "style") return createElement(name, options);
  // Holds the text, but is no style element, which the policy would report.
  const element = document.createElementNS("http://www.w3.org/2000/svg", "metadata");
  Object.defineProperty(element, "innerHTML", {
    set(text) {
      styles += text;
      sheet.replaceSync(styles);
    },
  });
  return element;
};

const { setAttribute } = Element.prototype;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  // The policy blocks pictures of other sites, too.
  else if (name !== "href" || this.localName !== "image") setAttribute.call(this, name, value);
};
Object.defineProperty(HTMLImageElement.prototype, "src", { set() {} });

// A parsed document has the policy, too, and reports each style in it: during parsing, styles have another name.
const { parseFromString } = DOMParser.prototype;
DOMParser.prototype.parseFromString = function (text, type) {
  return parseFromString.call(this, String(text).replaceAll(' style="', ' data-style="'), type);
};

const { mermaid } = globalThis;
mermaid.initialize({
  startOnLoad: false,
  securityLevel: "strict",
  suppressErrorRendering: true,
  deterministicIds: true,
  theme: "neutral",
  fontFamily: "system-ui, sans-serif",
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  class: { htmlLabels: false },
  maxTextSize: 20_000,
  maxEdges: 300,
  // The settings that a diagram's own directives must not change.
  secure: [
    "secure", "startOnLoad", "securityLevel", "suppressErrorRendering", "maxTextSize", "maxEdges", "htmlLabels",
    "themeCSS", "fontFamily", "altFontFamily", "dompurifyConfig", "flowchart", "class",
  ],
});

/** @param {string} source @returns {Promise<{drawn: string}>} A picture in SVG. */
async function draw(source) {
  styles = "";
  const { svg } = await mermaid.render("diagram", source);
  const drawing = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  const [, , width, height] = (drawing.getAttribute("viewBox") ?? "").split(/[ ,]+/);
  if (width && height) {
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", height);
  }
  drawing.removeAttribute("data-style");
  // As text, for the policy reports styles in elements.
  const style = `<style>${styles.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</style>`;
  const xml = new XMLSerializer().serializeToString(drawing).replaceAll(' data-style="', ' style="');
  return { drawn: xml.replace(">", () => `>${style}`) };
}

addEventListener("message", ({ data, source }) => {
  if (source !== parent) return;
  draw(data.source).then(
    (drawing) => parent.postMessage(drawing, "*"),
    (error) => parent.postMessage({ problem: String(error?.message ?? error) }, "*"),
  );
});
// The frame's own policy is in force then.
addEventListener("DOMContentLoaded", () => parent.postMessage("ready", "*"));
