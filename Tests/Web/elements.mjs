// A document for tests of the page view without a browser: elements with the properties that rendering.js sets.
//
// Import this module before the modules of the page.

/** The entities that occur in tests. A browser knows all entities of HTML. */
const entities = new Map(
  Object.entries({
    AElig: "Æ", ClockwiseContourIntegral: "∲", Dcaron: "Ď", DifferentialD: "ⅆ", HilbertSpace: "ℋ", amp: "&", auml: "ä",
    colon: ":", copy: "©", frac34: "¾", gt: ">", lt: "<", nbsp: "\u00a0", ngE: "≧̸", ouml: "ö", quot: '"', Tab: "\t",
    NewLine: "\n",
  }),
);

/** @param {string} text @returns {string} The text with its entities read, as a parser of HTML reads them. */
export const withoutEntities = (text) =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hexadecimal, decimal, name) => {
    if (name !== undefined) return entities.get(name) ?? (name.startsWith("not") ? `¬${name.slice(3)};` : all);
    const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
    return code === 0 || code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
  });

/** Properties whose attribute has another name, or exists only if the property is set. */
const properties = new Set(["id", "title", "href", "target", "rel", "alt", "src", "start", "type", "dir"]);

/** @param {string} key Of a dataset. */
const nameOfData = (key) => `data-${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export class TestElement {
  /** @type {(TestElement | string)[]} */
  childNodes = [];
  /** @type {TestElement | null} */
  parentElement = null;
  className = "";
  checked = false;
  /** @type {Record<string, string>} */
  dataset = {};
  /** @type {Record<string, string>} */
  #attributes = {};

  /** @param {string} name */
  constructor(name) {
    this.tagName = name.toUpperCase();
  }

  get attributes() {
    return this.#attributes;
  }

  getAttributeNames() {
    return [...(this.className ? ["class"] : []), ...Object.keys(this.#attributes), ...Object.keys(this.dataset).map(nameOfData)];
  }

  /** @param {string} name */
  getAttribute(name) {
    if (name === "class") return this.className || null;
    const key = Object.keys(this.dataset).find((one) => nameOfData(one) === name);
    return key === undefined ? (this.#attributes[name] ?? null) : (this.dataset[key] ?? null);
  }

  /** @param {boolean} isDeep */
  cloneNode(isDeep) {
    const copy = new TestElement(this.tagName);
    Object.assign(copy, { className: this.className, checked: this.checked, dataset: { ...this.dataset } });
    for (const [name, value] of Object.entries(this.#attributes)) copy.setAttribute(name, value);
    if (isDeep) copy.append(...this.childNodes.map((node) => (node instanceof TestElement ? node.cloneNode(true) : node)));
    return copy;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.#attributes[name] = value;
  }

  /** @param {string} name @param {boolean} isThere */
  toggleAttribute(name, isThere) {
    if (isThere) this.#attributes[name] ??= "";
    else delete this.#attributes[name];
  }

  /** @param {(TestElement | string)[]} nodes */
  append(...nodes) {
    for (const node of nodes) {
      if (node instanceof TestElement) {
        node.remove();
        node.parentElement = this;
      }
      this.childNodes.push(node);
    }
  }

  /** @param {(TestElement | string)[]} nodes */
  replaceChildren(...nodes) {
    for (const child of this.children) child.remove();
    this.childNodes = [];
    this.append(...nodes);
  }

  /** @param {TestElement} node @param {TestElement | null} before */
  insertBefore(node, before) {
    if (!before) return this.append(node);
    node.remove();
    node.parentElement = this;
    this.childNodes.splice(this.childNodes.indexOf(before), 0, node);
  }

  remove() {
    const siblings = this.parentElement?.childNodes;
    siblings?.splice(siblings.indexOf(this), 1);
    this.parentElement = null;
  }

  get children() {
    return this.childNodes.filter((node) => node instanceof TestElement);
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }

  get nextElementSibling() {
    const siblings = this.parentElement?.children ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  /** @returns {string} */
  get textContent() {
    return this.childNodes.map((node) => (node instanceof TestElement ? node.textContent : node)).join("");
  }

  set textContent(text) {
    this.childNodes = [text];
  }

  /** @param {string} selector `tag`, `.class` or `tag.class`. @returns {TestElement[]} */
  querySelectorAll(selector) {
    const [tag, name] = selector.split(".");
    return this.children.flatMap((child) => {
      const isMatch = (!tag || child.tagName === tag.toUpperCase()) && (!name || child.className.split(" ").includes(name));
      return [...(isMatch ? [child] : []), ...child.querySelectorAll(selector)];
    });
  }

  /** @param {string} selector */
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
}

for (const property of properties) {
  Object.defineProperty(TestElement.prototype, property, {
    /** @this {TestElement} */
    get() {
      return this.attributes[property] ?? "";
    },
    /** @this {TestElement} */
    set(value) {
      this.attributes[property] = String(value);
    },
  });
}

/** The address of the page in tests. */
export const address = "https://notes.example.org/";

Object.assign(globalThis, {
  location: new URL(address),
  HTMLImageElement: class {
    /** @param {TestElement} element */
    static [Symbol.hasInstance](element) {
      return element.tagName === "IMG";
    }
  },
  DOMParser: class {
    parseFromString(/** @type {string} */ text) {
      return { documentElement: { textContent: withoutEntities(text) } };
    }
  },
});

/** The module that draws the page view. */
export const reading = await import("../../Web/js/reading/rendering.js");

// Set after the import, because a module that finds a document assumes that it is the whole page.
Object.assign(globalThis, {
  document: {
    createElement: (/** @type {string} */ name) => new TestElement(name),
    createElementNS: (/** @type {string} */ _namespace, /** @type {string} */ name) => new TestElement(name),
  },
});

/** @param {string} text Markdown. @returns {TestElement} The page view of it. */
export function pageOf(text) {
  const page = new TestElement("article");
  reading.renderInto(/** @type {any} */ (page), text);
  return page;
}
