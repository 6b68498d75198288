// Draws diagrams with Mermaid, one for each message, in a frame without an origin that reading/drawing.js creates.
//
// The frame has the page's policy, and a stricter one of its own: it loads only these two scripts, and ignores inline
// styles. Mermaid measures texts with such styles, so they are added as an adopted style sheet, which the policy
// allows. The drawing contains them itself, because it is shown as an image.

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];

/** The styles of the current drawing. */
let styles = "";

const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  if (name !== "style") return createElement(name, options);
  // An element for the text that is not a style element, which the policy would report.
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
  // The policy would block and report images of other sites.
  else if (name !== "href" || this.localName !== "image") setAttribute.call(this, name, value);
};
Object.defineProperty(HTMLImageElement.prototype, "src", { set() {} });

// The policy also applies to parsed documents and reports each style in them, so styles have another name while
// parsing.
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
  // Settings that a diagram's own directives must not change.
  secure: [
    "secure", "startOnLoad", "securityLevel", "suppressErrorRendering", "maxTextSize", "maxEdges", "htmlLabels",
    "themeCSS", "fontFamily", "altFontFamily", "dompurifyConfig", "flowchart", "class",
  ],
});

/** @param {string} source @returns {Promise<{drawn: string}>} SVG. */
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
  // Added as text, because the policy reports style elements.
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
