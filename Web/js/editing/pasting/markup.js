// Reads from an HTML element whether it is shown, and the format of its text.
//
// Only a few standard properties of nodes are read, and styles only from their attribute: layout is not needed.

/**
 * The part of the DOM's Node and Element that conversion reads.
 *
 * @typedef {object} MarkupNode
 * @property {number} nodeType
 * @property {string} nodeName
 * @property {string | null} nodeValue
 * @property {MarkupNode | null} firstChild
 * @property {MarkupNode | null} nextSibling
 * @property {(name: string) => string | null} [getAttribute] Only elements have it.
 */

/** @typedef {{href: string}} Link */
/** @typedef {{bold?: boolean, italic?: boolean, strike?: boolean, code?: boolean, raised?: boolean, lowered?: boolean, underline?: boolean, pre?: boolean, mention?: string, link?: Link | undefined}} Marks */

/** The maximum UTF-16 units of a style attribute that are read. */
const styleMax = 4_000;

/** @param {MarkupNode} node @param {string} name */
export const attribute = (node, name) => node.getAttribute?.(name) ?? "";

/** @param {MarkupNode} node @returns {string} The style, in lower case. */
export const styleOf = (node) => (attribute(node, "data-style") || attribute(node, "style")).slice(0, styleMax).toLowerCase();

/**
 * Returns HTML without styles and event handlers. A parsed document does not apply them, but browsers report each one
 * that the page's policy forbids.
 *
 * @param {string} html
 * @returns {string} The HTML, with `data-style` instead of `style` attributes and without `style` elements.
 */
export function inert(html) {
  const parts = [];
  const small = html.toLowerCase();
  let at = 0;
  for (let start = small.indexOf("<style"); start >= 0; start = small.indexOf("<style", at)) {
    parts.push(html.slice(at, start));
    const end = small.indexOf("</style", start);
    const close = end < 0 ? -1 : small.indexOf(">", end);
    at = close < 0 ? html.length : close + 1;
  }
  parts.push(html.slice(at));
  return parts.join("").replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s"'/])(style|on\w+)(?=\s*=)/gi, "$1data-$2"));
}

/** @param {MarkupNode} node @param {string} name */
export const hasClass = (node, name) => ` ${attribute(node, "class")} `.includes(` ${name} `);

/** Elements whose content is not text of the document. */
const skipped = new Set([
  "SCRIPT", "STYLE", "HEAD", "TITLE", "META", "LINK", "TEMPLATE", "NOSCRIPT", "IFRAME", "OBJECT", "EMBED", "SVG", "CANVAS",
  "AUDIO", "VIDEO", "SELECT", "TEXTAREA", "BUTTON", "XML", "COLGROUP", "COL", "RP", "CLIPBOARD-COPY",
]);
/** Classes of known sites for controls and footnote marks. */
const controls = ["mw-editsection", "reference", "katex-html", "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"];

/** @param {MarkupNode} node @param {string} name The element's name, in upper case. */
export function isSkipped(node, name) {
  if (skipped.has(name) || node.getAttribute?.("hidden") != null) return true;
  if (controls.some((one) => hasClass(node, one))) return true;
  const style = styleOf(node);
  if (/mso-hide:\s*all|visibility:\s*hidden/.test(style)) return true;
  // Wikipedia hides the formula itself, and shows a picture of it.
  return /(?:^|[;\s])display:\s*none/.test(style) && !hasClass(node, "mwe-math-mathml-a11y");
}

/** @type {Record<string, Marks>} The marks that elements give to their text. */
const meanings = {
  B: { bold: true }, STRONG: { bold: true },
  I: { italic: true }, EM: { italic: true }, CITE: { italic: true }, DFN: { italic: true }, VAR: { italic: true },
  S: { strike: true }, DEL: { strike: true }, STRIKE: { strike: true },
  CODE: { code: true }, KBD: { code: true }, SAMP: { code: true }, TT: { code: true },
  SUP: { raised: true }, SUB: { lowered: true }, U: { underline: true }, INS: { underline: true },
};

/** @param {string} style @returns {Marks} */
function marksOfStyle(style) {
  /** @type {Marks} */
  const marks = {};
  const weight = /(?:^|[;\s])font-weight:\s*(\w+)/.exec(style)?.[1];
  if (weight) marks.bold = weight.startsWith("bold") || Number(weight) >= 600;
  const slant = /(?:^|[;\s])font-style:\s*(\w+)/.exec(style)?.[1];
  if (slant) marks.italic = slant !== "normal";
  if (/text-decoration(?:-line)?:[^;]*line-through/.test(style)) marks.strike = true;
  if (/text-decoration(?:-line)?:[^;]*underline/.test(style)) marks.underline = true;
  if (/font-family:[^;]*(?:mono|courier|consolas|menlo)/.test(style)) marks.code = true;
  if (/vertical-align:\s*super/.test(style)) marks.raised = true;
  if (/vertical-align:\s*sub/.test(style)) marks.lowered = true;
  const space = /(?:^|[;\s])white-space(?:-collapse)?:\s*([\w-]+)/.exec(style)?.[1];
  if (space) marks.pre = /^(?:pre|preserve|break)/.test(space);
  return marks;
}

/** @param {MarkupNode} node @param {string} name @param {Marks} marks The marks around the element. @returns {Marks} */
export function marksIn(node, name, marks) {
  const style = styleOf(node);
  const meaning = meanings[name];
  // A person, as the page and the server write one.
  const mention = name === "SPAN" && hasClass(node, "mention") ? attribute(node, "data-mention").slice(0, 200) : "";
  if (!meaning && !style && !mention) return marks;
  return { ...marks, ...meaning, ...(style && marksOfStyle(style)), ...(mention && { mention }) };
}

const schemes = new Set(["http:", "https:", "mailto:", "tel:"]);

/** @param {string} address @returns {string | undefined} A target for Markdown; undefined if unsafe. */
export function safeTarget(address) {
  let url;
  try {
    // Without a base: the original page is unknown.
    url = new URL(address.trim());
  } catch {
    return undefined;
  }
  if (!schemes.has(url.protocol)) return undefined;
  return url.href.replace(/[()\\<>\s`*_|]/g, (sign) => (sign === "_" ? sign : `%${sign.charCodeAt(0).toString(16).toUpperCase()}`));
}

/** @param {MarkupNode} image @returns {{text: string} | {alt: string, target: string} | undefined} */
export function pictureIn(image) {
  const alt = attribute(image, "alt").replace(/\s+/g, " ").trim();
  if (hasClass(image, "emoji") || /^\p{Extended_Pictographic}/u.test(alt)) return { text: alt };
  const isDot = ["width", "height"].some((side) => /^[01](?:px)?$/.test(attribute(image, side)));
  const source = attribute(image, "src");
  if (isDot || attribute(image, "aria-roledescription") === "checkbox") return undefined;
  const target = /^https?:/i.test(source.trim()) ? safeTarget(source) : undefined;
  return target === undefined ? { text: alt } : { alt, target };
}

/**
 * Returns the text below a node, with its visible line breaks.
 *
 * @param {MarkupNode} node
 * @returns {string}
 */
export function textBelow(node) {
  /** @type {string[]} */
  const parts = [];
  const waiting = [node.firstChild];
  while (waiting.length > 0) {
    const child = waiting.pop();
    if (!child) continue;
    waiting.push(child.nextSibling);
    const name = child.nodeName.toUpperCase();
    if (child.nodeType === 3) parts.push(child.nodeValue ?? "");
    else if (name === "BR") parts.push("\n");
    else if (child.nodeType === 1 && !isSkipped(child, name)) {
      const isLine = name === "DIV" || name === "P" || name === "LI";
      if (isLine && parts.length > 0 && !parts[parts.length - 1]?.endsWith("\n")) parts.push("\n");
      waiting.push(child.firstChild);
    }
  }
  return parts.join("");
}

/** The maximum depth of nested elements that are read. */
export const depthMax = 300;

/** @param {MarkupNode} pre @param {MarkupNode} [around] @returns {string} The code's language; "" if unknown. */
export function languageOf(pre, around) {
  for (let child = /** @type {MarkupNode | null | undefined} */ (pre); child; child = child === pre ? pre.firstChild : undefined) {
    if (child.nodeType !== 1) continue;
    const found = /(?:^|\s)(?:language|lang|brush:)-?\s*([\w+#-]+)/.exec(attribute(child, "class"))?.[1];
    const named = found ?? (/^[\w+#-]+$/.exec(attribute(child, "lang") || attribute(child, "data-lang"))?.[0]);
    if (named) return named;
  }
  return (around && /highlight-(?:source|text)-([\w+#]+)/.exec(attribute(around, "class"))?.[1]) ?? "";
}

/** The maximum UTF-16 units of a formula. */
const formulaMax = 5_000;

/** @param {MarkupNode} node @param {number} depth @returns {MarkupNode | undefined} */
function sourceBelow(node, depth) {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.nodeType !== 1) continue;
    if (child.nodeName.toLowerCase() === "annotation" && attribute(child, "encoding").includes("tex")) return child;
    const found = depth < depthMax ? sourceBelow(child, depth + 1) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** @param {MarkupNode} math @returns {{tex: string, isBlock: boolean} | undefined} The formula's source. */
export function formulaIn(math) {
  const source = sourceBelow(math, 0);
  if (!source) return undefined;
  const whole = textBelow(source);
  if (whole.length > formulaMax) return undefined;
  const tex = whole.replace(/^\s*\{\\displaystyle ([\s\S]*)\}\s*$/, "$1").replace(/\s+/g, " ").trim();
  return tex && !tex.includes("$") ? { tex, isBlock: attribute(math, "display") === "block" } : undefined;
}
