// Generated names and colours, and how people are shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asGuest, drawProfile, inOwnColors, initials, inkOn, nameCount, nameLengthMax, palette, shownName, unlike, whoIsHere, withoutDoubles,
} from "../../Web/js/state/people.js";
import { Random } from "./support.mjs";

/** @param {string} color */
function luminance(color) {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const value = parseInt(color.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

test("white is readable on every colour, and all colours are distinguishable", () => {
  for (const color of palette) {
    assert.ok(1.05 / (luminance(color) + 0.05) >= 4.5, `${color}: ${1.05 / (luminance(color) + 0.05)}`);
    assert.equal(inkOn(color), "#ffffff");
  }
  const channels = (/** @type {string} */ color) => [1, 3, 5].map((start) => parseInt(color.slice(start, start + 2), 16));
  for (const one of palette) {
    for (const other of palette.filter((color) => color !== one)) {
      const [a, b] = [channels(one), channels(other)];
      const distance = Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));
      assert.ok(distance > 24, `${one} and ${other}: ${distance}`);
    }
  }
});

test("there are many generated names, and each is short", () => {
  assert.ok(nameCount > 3_000);
  const random = new Random(7);
  const names = new Set(Array.from({ length: 50 }, () => drawProfile([], () => random.next()).name));
  assert.ok(names.size > 45, `${names.size} of 50 differ`);
  for (const name of names) assert.ok(name.length <= nameLengthMax, name);
});

test("a generated profile has another name and colour than the people present", () => {
  const random = new Random(8);
  const here = /** @type {{name: string, color: string}[]} */ ([]);
  while (here.length < palette.length) here.push(drawProfile(here, () => random.next()));
  assert.equal(new Set(here.map(({ color }) => color)).size, palette.length);
  assert.equal(new Set(here.map(({ name }) => name)).size, palette.length);
  assert.ok(palette.includes(drawProfile(here).color), "then colours come again");
});

test("a generated profile changes if another person has its name or colour; a chosen one does not", () => {
  const [first = "", second = ""] = palette;
  const mine = { name: "Calm Heron", color: first, isDrawn: true };
  const random = () => 0;
  assert.equal(unlike(mine, [], { random }), undefined);
  assert.equal(unlike(mine, [{ name: "Bo", color: second }], { random }), undefined);
  assert.deepEqual(unlike(mine, [{ name: "Bo", color: first }], { random }), { name: "Calm Heron", color: second });
  assert.equal(unlike({ ...mine, isDrawn: false }, [{ name: "Bo", color: first }], { random }), undefined);
  // A participant with the same name and colour is another tab of this person.
  assert.equal(unlike(mine, [{ name: "Calm Heron", color: first }, { name: "Bo", color: first }], { random }), undefined);
  // If another person has the same name, only a newcomer takes another one.
  const namesake = [{ name: "Calm Heron", color: second }];
  assert.equal(unlike(mine, namesake, { random }), undefined);
  const better = unlike(mine, namesake, { isNew: true, random });
  assert.notEqual(better?.name, "Calm Heron");
  assert.equal(better?.color, first);
  const twin = unlike(mine, [{ name: "Calm Heron", color: first }], { isNew: true, random });
  assert.notEqual(twin?.name, "Calm Heron");
  assert.notEqual(twin?.color, first);
  // In a crowd that uses all colours, the colour stays.
  const crowd = palette.map((color, index) => ({ name: `P${index}`, color }));
  assert.equal(unlike(mine, crowd, { random }), undefined);
});

test("a crowd is shown as a number", () => {
  assert.equal(whoIsHere([], 0), "Only you are here");
  assert.equal(whoIsHere(["Bo", "Cy (writing)"], 2), "Here with you: Bo, Cy (writing)");
  assert.equal(whoIsHere([], 311), "312 people are here");
  assert.equal(whoIsHere(["Bo"], 1_311), "1,312 people are here, among them Bo");
});

test("a guest is recognised by the server's mark in any language of the page", () => {
  assert.equal(shownName(asGuest("Ben")), "Ben (guest)");
  assert.equal(shownName("Ben"), "Ben");
  for (const name of ["Ben Long (guest)", "\u2068Ben Long\u2069 (ضيف)", "Ben Long（ゲスト）"]) assert.equal(initials(name), "BL");
});

test("a person with several windows is shown once", () => {
  const ann = { name: "Ann", color: "#16737f", isWriting: false };
  const shown = withoutDoubles([
    ann, { ...ann, isWriting: true }, { ...ann, color: "#8a4bab" }, { ...ann, name: "Bo" }, ann,
  ]);
  assert.deepEqual(shown.map(({ name, color, windows, isWriting }) => [name, color, windows, isWriting]), [
    ["Ann", "#16737f", 3, true], ["Ann", "#8a4bab", 1, false], ["Bo", "#16737f", 1, false],
  ]);
  // A client without a colour gets one derived from its id.
  const guests = withoutDoubles(["a", "b"].map((clientId) => ({ name: "Guest", clientId, isWriting: false })));
  assert.equal(guests.length, 2);
});

test("people who chose the same colour are shown in different ones", () => {
  const teal = "#16737f";
  const people = ["c", "a", "b", "d"].map((clientId) => ({ name: clientId.toUpperCase(), color: teal, clientId }));
  const shown = inOwnColors(people);
  assert.equal(new Set(shown.map(({ color }) => color)).size, 4);
  assert.equal(shown[1]?.color, teal, "the first by client keeps the colour");
  // The result does not depend on the order.
  const turned = inOwnColors([...people].reverse());
  for (const one of turned) assert.equal(one.color, shown.find(({ name }) => name === one.name)?.color);
  // Two windows of one person keep one colour.
  const twice = inOwnColors([...people, { name: "D", color: teal, clientId: "e" }]);
  assert.equal(twice[4]?.color, twice[3]?.color);
  // Different colours stay as they are, and a crowd with more people than colours uses all colours.
  const different = [{ name: "A", color: teal, clientId: "a" }, { name: "B", color: "#8a4bab", clientId: "b" }];
  assert.equal(inOwnColors(different), different);
  const crowd = Array.from({ length: 50 }, (_, index) => ({ name: `P${index}`, color: teal, clientId: String(index) }));
  assert.equal(new Set(inOwnColors(crowd).map(({ color }) => color)).size, palette.length);
});
