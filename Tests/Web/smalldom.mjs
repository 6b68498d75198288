// Parses well-formed HTML to nodes with the members that the conversion to Markdown uses. Parsing by browsers is tested
// in a browser.

const empty = new Set(["BR", "HR", "IMG", "INPUT", "META", "LINK", "COL", "PATH"]);
const entities = /** @type {Record<string, string>} */ ({ amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", middot: "·" });
const decoded = (/** @type {string} */ text) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (all, code, name) => (code ? String.fromCodePoint(Number(code)) : (entities[name] ?? all)));

/** @param {string} html @returns {any} A root. */
export function parsed(html) {
  const make = (/** @type {number} */ nodeType, /** @type {string} */ nodeName, /** @type {string | null} */ nodeValue) => ({
    nodeType, nodeName, nodeValue, firstChild: /** @type {any} */ (null), nextSibling: /** @type {any} */ (null), lastChild: /** @type {any} */ (null),
  });
  const root = make(9, "#document", null);
  const open = [root];
  const add = (/** @type {any} */ node) => {
    const parent = open[open.length - 1];
    if (!parent) throw new Error("more ends than beginnings");
    if (parent.lastChild) parent.lastChild.nextSibling = node;
    else parent.firstChild = node;
    parent.lastChild = node;
  };
  for (const [, comment, end, name = "", attributes = "", text] of html.matchAll(/<(!--[\s\S]*?--|!\[[^>]*)>|<(\/?)([\w:-]+)((?:"[^"]*"|'[^']*'|[^>"'])*)>|([^<]+)/g)) {
    if (comment !== undefined) add(make(8, "#comment", comment));
    else if (text !== undefined) add(make(3, "#text", decoded(text)));
    else if (end) {
      if (open.pop()?.nodeName !== name.toUpperCase()) throw new Error(`</${name}> ends nothing`);
    } else {
      const values = new Map([...attributes.matchAll(/([\w:-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)].map(([, key = "", ...parts]) => [key.toLowerCase(), decoded(parts.find((part) => part !== undefined) ?? "")]));
      const node = { ...make(1, name.toUpperCase(), null), getAttribute: (/** @type {string} */ key) => values.get(key) ?? null };
      add(node);
      if (!empty.has(node.nodeName) && !attributes.endsWith("/")) open.push(node);
    }
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)?.nodeName}> has no end`);
  return root;
}
