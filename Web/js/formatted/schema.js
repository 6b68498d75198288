// The schema of a formatted note in the editor: a list of lines with text and embeds. It is flat: the kind of a line is
// an attribute of the line, so that a place in the editor is the place in the text, plus the number of its line, plus
// one, and no merge of changes can violate the schema.

import { Schema } from "../prosemirror.js";
import { domOfLine, domOfMark, parsedAs } from "./elements.js";
import { none, setOf } from "./sets.js";

/**
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {import("../prosemirror.js").Mark} Mark
 * @typedef {import("./sets.js").AttributeSet} AttributeSet
 */

/** The character that stands for an embed in the text. */
export const embedSign = "\ufffc";

/** Attributes of text that typed text behind them takes. The others end where they end. */
const continuing = ["bold", "italic", "underline", "strike", "script", "color", "background", "size", "font"];
/** The order of the marks' elements, outermost first. */
const order = ["link", "mention", "background", "color", "size", "font", "bold", "italic", "underline", "strike", "script", "code"];

/** @param {string} name */
const markSpec = (name) => ({
  attrs: { value: { default: true } },
  inclusive: continuing.includes(name),
  toDOM: (/** @type {Mark} */ { attrs }) => domOfMark(name, attrs.value),
  parseDOM: parsedAs(name),
});

export const schema = new Schema({
  nodes: {
    doc: { content: "line+" },
    line: {
      content: "inline*",
      attrs: { set: { default: none } },
      toDOM: (/** @type {Node} */ { attrs }) => domOfLine(attrs.set),
      parseDOM: parsedAs("line"),
    },
    text: { group: "inline" },
    // `embed` has one key, the kind; its other attributes are in `set`.
    embed: {
      inline: true,
      group: "inline",
      attrs: { embed: {}, set: { default: none } },
      draggable: true,
      toDOM: () => ["span", { class: "embed" }],
      parseDOM: parsedAs("embed"),
      leafText: () => embedSign,
    },
    // A character that elements cannot contain, such as a carriage return.
    control: {
      inline: true,
      group: "inline",
      attrs: { sign: {} },
      selectable: false,
      toDOM: () => ["span", { class: "control" }],
      leafText: (/** @type {Node} */ { attrs }) => attrs.sign,
    },
  },
  marks: {
    ...Object.fromEntries(order.map((name) => [name, markSpec(name)])),
    // Attributes of other programs, and attributes of lines on text: kept, and without meaning here.
    other: {
      attrs: { key: {}, value: {} },
      excludes: "",
      inclusive: false,
      toDOM: () => ["span", 0],
    },
  },
});

const nodes = /** @type {{doc: any, line: any, embed: any, control: any}} */ (schema.nodes);
export const { line: lineType, embed: embedType, control: controlType, doc: docType } = nodes;

/** @type {Map<string, import("../prosemirror.js").MarkType>} */
export const markTypes = new Map(order.map((name) => [name, /** @type {any} */ (schema.marks[name])]));
const other = /** @type {import("../prosemirror.js").MarkType} */ (schema.marks.other);

/** Attributes of an embed that are not marks around it. */
const ofEmbeds = new Set(["embed", "alt", "width"]);

/** @param {string} key @param {any} value @returns {Mark} */
export const markOf = (key, value) => markTypes.get(key)?.create({ value }) ?? other.create({ key, value });

/** @type {WeakMap<AttributeSet, readonly Mark[]>} */
const knownMarks = new WeakMap();

/** @param {AttributeSet} set Of text. @returns {readonly Mark[]} */
export function marksOf(set) {
  let marks = knownMarks.get(set);
  if (!marks) {
    marks = Object.entries(set).reduce((/** @type {readonly Mark[]} */ all, [key, value]) => markOf(key, value).addToSet(all), []);
    knownMarks.set(set, marks);
  }
  return marks;
}

/** @type {WeakMap<readonly Mark[], AttributeSet>} */
const knownSets = new WeakMap();

/** @param {readonly Mark[]} marks @returns {AttributeSet} */
function setOfMarks(marks) {
  if (marks.length === 0) return none;
  let set = knownSets.get(marks);
  if (!set) {
    set = setOf(marks.map(({ type, attrs }) => (type === other ? [attrs.key, attrs.value] : [type.name, attrs.value])));
    knownSets.set(marks, set);
  }
  return set;
}

/** @param {Node} node In a line. @returns {AttributeSet} */
export function setOfNode(node) {
  if (node.type !== embedType) return setOfMarks(node.marks);
  const { embed, set } = node.attrs;
  return setOf([...Object.entries(setOfMarks(node.marks)), ...Object.entries(set), ["embed", embed]]);
}

/** @param {AttributeSet} set With `embed`. @returns {Node} */
export function embedOf(set) {
  const [own, around] = [[], []].map(() => /** @type {[string, any][]} */ ([]));
  for (const [key, value] of Object.entries(set)) if (key !== "embed") (ofEmbeds.has(key) ? own : around)?.push([key, value]);
  return embedType.create({ embed: set.embed, set: setOf(own ?? []) }, null, marksOf(setOf(around ?? [])));
}
