// Copies MathML from the worker that draws formulas; only the elements and attributes listed here are copied.

const namespace = "http://www.w3.org/1998/Math/MathML";

const elements = new Set(
  "math semantics annotation mrow mi mo mn ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msup msub msubsup mover munder munderover mtable mtr mtd menclose".split(" "),
);

const attributes = new Set(
  "accent accentunder columnalign columnlines columnspacing depth display displaystyle encoding fence height largeop linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize notation rowlines rowspacing rspace scriptlevel separator stretchy voffset width".split(" "),
);

/** Maximum elements of one formula. */
const elementsMax = 20_000;

/**
 * @param {string} html
 * @returns {Element | undefined} Undefined if there is no formula, or it has too many elements.
 */
export function mathIn(html) {
  // Parsing runs no script.
  const math = new DOMParser().parseFromString(html, "text/html").querySelector("math");
  return !math || math.querySelectorAll("*").length > elementsMax ? undefined : copyOf(math);
}

/** @param {Element} source @returns {Element} */
function copyOf(source) {
  const name = source.localName;
  const copy = document.createElementNS(namespace, elements.has(name) ? name : "mrow");
  for (const { name, value } of source.attributes) if (attributes.has(name)) copy.setAttribute(name, value);
  for (const node of source.childNodes) {
    if (node instanceof Element) copy.append(copyOf(node));
    else if (node instanceof Text) copy.append(node.data);
  }
  return copy;
}
