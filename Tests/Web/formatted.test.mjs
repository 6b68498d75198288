// The mapping between a formatted note's text with attributes and the editor's document: in both directions, for any
// change.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../../Web/js/formatted/applying.js";
import { changeOf } from "../../Web/js/formatted/difference.js";
import { contentOf, documentOf, textOfDocument, toDocument, toText } from "../../Web/js/formatted/document.js";
import { rangesOf } from "../../Web/js/formatted/ranges.js";
import { embedOf, lineType, markOf, schema } from "../../Web/js/formatted/schema.js";
import { changeBetween, changed, none, setFrom } from "../../Web/js/formatted/sets.js";
import { Fragment, Slice, Transform } from "../../Web/js/prosemirror.js";
import { Random } from "./support.mjs";

/** @typedef {{unit: string, set: any}} Unit One UTF-16 unit with its attributes. */

/** @param {string} text @param {{sets: readonly object[], runs: readonly number[]} | undefined} format @returns {Unit[]} */
function unitsOf(text, format) {
  const sets = [none, ...(format?.sets ?? []).map(setFrom)];
  const of = (format?.runs ?? []).flatMap((length, index, runs) => (index % 2 ? [] : Array(length).fill(sets[runs[index + 1] ?? 0])));
  return text.split("").map((unit, index) => ({ unit, set: of[index] ?? none }));
}

/** @param {Unit[]} units */
const written = (units) => units.map(({ unit, set }) => unit + JSON.stringify(set));

/**
 * A change applied by the rules alone.
 *
 * @param {Unit[]} units
 * @param {import("../../Web/js/formatted/difference.js").Change} change
 * @returns {Unit[]}
 */
function model(units, { changes, format }) {
  const sets = [none, ...(format?.sets ?? []).map(setFrom)];
  const result = units.map((unit) => ({ ...unit }));
  const kept = format?.kept ?? [];
  const deleted = new Set(changes.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index)));
  let place = 0;
  for (let index = 0; index < kept.length; index += 3) {
    place += kept[index] ?? 0;
    const [length, number] = [kept[index + 1] ?? 0, kept[index + 2] ?? 0];
    assert.ok(length > 0 && number > 0);
    for (let count = 0; count < length; count += 1, place += 1) {
      const unit = result[place];
      assert.ok(unit, "a span is within the text");
      assert.ok(!deleted.has(place), "a span covers no deleted text");
      assert.equal(/** @type {any} */ (sets[number]).embed, undefined);
      unit.set = changed(unit.set, sets[number] ?? none);
    }
  }
  const puts = (format?.put ?? []).flatMap((length, index, put) => (index % 2 ? [] : Array(length).fill(sets[put[index + 1] ?? 0])));
  const made = [];
  let [at, used] = [0, 0];
  for (const { from, to, insert } of changes) {
    assert.ok(from >= at && to >= from && to <= units.length, "changes are sorted");
    made.push(...result.slice(at, from));
    for (const unit of insert.split("")) made.push({ unit, set: puts[used++] ?? none });
    at = to;
  }
  return [...made, ...result.slice(at)];
}

const inline = [
  { bold: true }, { italic: true }, { bold: true, italic: true }, { link: "https://example.org/" }, { code: true },
  { color: "#ff0000", bold: true }, { "x-mine": 7 }, { "x-mine": "b", size: 3 }, { constructor: true },
];
const ofLines = [{ block: "h1" }, { block: "bullet" }, { block: "bullet", indent: 2 }, { block: "code", language: "swift" }, { bold: true }, { align: "right" }];
const embeds = [{ embed: { image: "a/b.png" } }, { embed: { rule: true } }, { embed: { image: "a/b.png" }, alt: "A", bold: true }, { embed: { image: "c/d.png" }, width: 40 }];
const words = ["a", "b", "ab", "😀", "😁", "e\u0301", " ", "lorem ", "\r"];

/** @param {Random} random @param {number} length @returns {{text: string, format: {sets: object[], runs: number[]}}} */
function randomContent(random, length) {
  /** @type {object[]} */
  const sets = [];
  /** @type {number[]} */
  const runs = [];
  let text = "";
  const add = (/** @type {string} */ piece, /** @type {object | undefined} */ set) => {
    text += piece;
    if (set) sets.push(set);
    runs.push(piece.length, set ? sets.length : 0);
  };
  for (let count = random.below(length + 1); count > 0; count -= 1) {
    const kind = random.below(10);
    if (kind < 3) add("\n", random.below(2) ? random.pick(ofLines) : undefined);
    else if (kind === 3) add("\ufffc", random.below(6) ? random.pick(embeds) : undefined);
    else add(random.pick(words), random.below(2) ? random.pick(inline) : undefined);
  }
  return { text, format: { sets, runs } };
}

/** @param {Random} random @param {string} text */
function randomPlace(random, text) {
  let place = random.below(text.length + 1);
  while (/^[\udc00-\udfff]/.test(text.slice(place)) && place > 0) place -= 1;
  return place;
}

/** @param {Random} random @param {import("../../Web/js/prosemirror.js").Node} doc A place in a line. */
function randomPos(random, doc) {
  return toDocument(doc, randomPlace(random, textOfDocument(doc)));
}

/** @param {Random} random @param {import("../../Web/js/prosemirror.js").Node} doc */
function randomRange(random, doc) {
  const [one, other] = [randomPos(random, doc), randomPos(random, doc)];
  return one < other ? [one, other] : [other, one];
}

/** @type {((transform: Transform, random: Random) => unknown)[]} What commands of the editor do. */
const acts = [
  (transform, random) => transform.insert(randomPos(random, transform.doc), schema.text(random.pick(["x", "ab", "😀"]), [])),
  (transform, random) => transform.insert(randomPos(random, transform.doc), schema.text("y", [markOf("bold", true)])),
  (transform, random) => transform.insert(randomPos(random, transform.doc), embedOf(setFrom(random.pick(embeds)))),
  (transform, random) => {
    const [from = 0, to = 0] = randomRange(random, transform.doc);
    if (to > from) transform.delete(from, Math.min(to, from + 8) > from ? to : from);
  },
  (transform, random) => transform.split(randomPos(random, transform.doc), 1),
  (transform, random) => transform.split(randomPos(random, transform.doc), 1, [{ type: lineType, attrs: { set: setFrom(random.pick(ofLines)) } }]),
  (transform, random) => {
    const [from = 0, to = 0] = randomRange(random, transform.doc);
    transform.addMark(from, to, markOf(...random.pick(/** @type {[string, any][]} */ ([["bold", true], ["color", "#00ff00"], ["link", "/n/x"]]))));
  },
  (transform, random) => {
    const [from = 0, to = 0] = randomRange(random, transform.doc);
    transform.removeMark(from, to);
  },
  (transform, random) => {
    const index = random.below(transform.doc.childCount);
    let pos = 0;
    for (let at = 0; at < index; at += 1) pos += transform.doc.child(at).nodeSize;
    transform.setNodeAttribute(pos, "set", random.below(3) ? setFrom(random.pick(ofLines)) : none);
  },
  (transform, random) => {
    const [from = 0, to = 0] = randomRange(random, transform.doc);
    const { text, format } = randomContent(random, 5);
    transform.replace(from, to, new Slice(documentOf(text, format).content, 1, 1));
  },
  (transform, random) => {
    // Whole lines, as a paste over a selection of everything.
    const { text, format } = randomContent(random, 5);
    if (random.below(4) === 0) transform.replaceWith(0, transform.doc.content.size, Fragment.from(documentOf(text, format).content));
  },
];

/** @param {Transform} transform The editor's last line has no newline, and so no kind. */
function settle(transform) {
  const last = /** @type {any} */ (transform.doc.lastChild);
  if (Object.keys(last.attrs.set).length > 0) transform.insert(transform.doc.content.size, lineType.create());
}

test("a document has the text and the attributes that it was made of", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = new Random(seed);
    const { text, format } = randomContent(random, 12);
    const doc = documentOf(text, format);
    doc.check();
    const content = contentOf(doc);
    assert.equal(content.text, text);
    assert.equal(textOfDocument(doc), text);
    assert.deepEqual(written(unitsOf(text, content.format)), written(unitsOf(text, format)), `seed ${seed}`);
  }
});

test("places in the text and in the document correspond", () => {
  const { text, format } = { text: "ab\n\n\ufffcc", format: { sets: [embeds[0] ?? {}], runs: [4, 0, 1, 1] } };
  const doc = documentOf(text, format);
  const places = Array.from({ length: text.length + 1 }, (_, place) => toDocument(doc, place));
  assert.deepEqual(places, [1, 2, 3, 5, 7, 8, 9]);
  assert.deepEqual(places.map((pos) => toText(doc, pos)), [0, 1, 2, 3, 4, 5, 6]);
});

test("any transaction is the change that the client core needs", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const { text, format } = randomContent(random, 12);
    const transform = new Transform(documentOf(text, format));
    for (let count = 1 + random.below(4); count > 0; count -= 1) random.pick(acts)(transform, random);
    settle(transform);
    const change = changeOf(transform.before, transform.doc, rangesOf(transform));
    const content = contentOf(transform.doc);
    const expected = written(unitsOf(content.text, content.format));
    assert.deepEqual(written(model(unitsOf(text, format), change)), expected, `seed ${seed}: ${JSON.stringify(change)}`);
  }
});

test("replacing many places from the end, and then anything else, is a change of these places", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = new Random(seed);
    const { text, format } = randomContent(random, 8);
    const transform = new Transform(documentOf(text, format));
    const places = Array.from({ length: 2 * random.below(8) }, () => toDocument(transform.doc, randomPlace(random, text)));
    places.sort((one, other) => other - one);
    for (let index = 0; index + 1 < places.length; index += 2) {
      const [to = 0, from = 0] = [places[index], places[index + 1]];
      if (!transform.doc.resolve(from).sameParent(transform.doc.resolve(to))) continue;
      transform.replaceWith(from, to, random.below(3) ? schema.text(random.pick(["x", "yy", "zzz"])) : []);
    }
    if (random.below(2)) random.pick(acts)(transform, random);
    settle(transform);
    const change = changeOf(transform.before, transform.doc, rangesOf(transform));
    const content = contentOf(transform.doc);
    const expected = written(unitsOf(content.text, content.format));
    assert.deepEqual(written(model(unitsOf(text, format), change)), expected, `seed ${seed}: ${JSON.stringify(change)}`);
  }
});

test("a change touches no more than the transaction", () => {
  const doc = documentOf("aaaa\naaaa", undefined);
  const typed = new Transform(doc).insert(3, schema.text("a"));
  assert.deepEqual(changeOf(doc, typed.doc, rangesOf(typed)), { changes: [{ from: 2, to: 2, insert: "a" }] });
  const deleted = new Transform(doc).delete(2, 3);
  assert.deepEqual(changeOf(doc, deleted.doc, rangesOf(deleted)), { changes: [{ from: 1, to: 2, insert: "" }] });
  const kind = new Transform(doc).setNodeAttribute(0, "set", setFrom({ block: "h1" }));
  assert.deepEqual(changeOf(doc, kind.doc, rangesOf(kind)), {
    changes: [],
    format: { sets: [setFrom({ block: "h1" })], kept: [4, 1, 1] },
  });
});

/** @param {Random} random @param {Unit[]} units @returns {import("../../Web/js/formatted/difference.js").Change} */
function randomChange(random, units) {
  const text = units.map(({ unit }) => unit).join("");
  const target = randomContent(random, 6);
  const places = Array.from({ length: 2 * random.below(3) }, () => randomPlace(random, text)).sort((one, other) => one - other);
  const changes = [];
  let inserted = "";
  for (let index = 0; index + 1 < places.length; index += 2) {
    const [from = 0, to = 0] = [places[index], places[index + 1]];
    const insert = random.below(2) ? target.text : "";
    if ((from === to && insert === "") || (changes[changes.length - 1]?.to ?? -1) >= from) continue;
    changes.push({ from, to: random.below(2) ? to : from, insert });
    inserted += insert;
  }
  const sets = [...target.format.sets];
  const put = changes.flatMap(({ insert }) => (insert ? target.format.runs : []));
  const kept = [];
  let passed = 0;
  for (let at = 0; at < text.length; at += 1) {
    const isGone = changes.some(({ from, to }) => at >= from && at < to);
    if (isGone || random.below(3) > 0) continue;
    const all = Object.entries(units[at]?.set ?? {}).filter(([key]) => key !== "embed");
    const gone = Object.fromEntries(all.filter(() => random.below(2)).map(([key]) => [key, null]));
    const set = { ...(text[at] === "\n" ? random.pick(ofLines) : random.pick([...inline, { alt: "B", width: 3 }])), ...gone };
    sets.push(set);
    kept.push(at - passed, 1, sets.length);
    passed = at + 1;
  }
  return { changes, format: { sets, kept, put } };
}

test("any change of another person becomes the editor's document", () => {
  for (let seed = 1; seed <= 1_000; seed += 1) {
    const random = new Random(seed);
    const { text, format } = randomContent(random, 10);
    const units = unitsOf(text, format);
    const transform = new Transform(documentOf(text, format));
    const change = randomChange(random, units);
    apply(transform, change);
    transform.doc.check();
    const content = contentOf(transform.doc);
    const expected = written(model(units, change));
    assert.deepEqual(written(unitsOf(content.text, content.format)), expected, `seed ${seed}: ${JSON.stringify(change)}`);
  }
});

test("a change of attributes is what differs", () => {
  assert.deepEqual(changeBetween(setFrom({ bold: true, a: 1 }), setFrom({ bold: true, b: 2 })), setFrom({ a: null, b: 2 }));
  assert.equal(changeBetween(none, none), none);
  assert.deepEqual(changed(setFrom({ a: 1 }), setFrom({ a: null, b: 2 })), setFrom({ b: 2 }));
});
