// The choices of menus in the text: Markdown after "/", people after "@", notes after "[[", emoji after ":".

import { emoji } from "./emoji.js";

/**
 * @typedef {"part" | "person" | "note" | "emoji"} Kind
 * @typedef {{label: string, hint?: string, insert?: string, run?: () => void, words?: string}} Choice `insert` contains
 *   "¦" at the position of the caret; `words` are further search words.
 */

/** The maximum choices that are shown. */
const shownMax = 20;

/** @type {[Kind, RegExp][]} The text before the caret; the last group is the query. */
const triggers = [
  ["part", /^(?:\s*>\s?)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?(\/([^\s/]{0,30}))$/],
  ["note", /(\[\[([^\][\n]{0,60}))$/],
  ["person", /(?:^|[\s(])(@([^\s@]{0,40}))$/],
  ["emoji", /(?:^|[\s(])(:([a-z0-9_+-]{2,30}))$/i],
];

/**
 * Returns the menu for the text before the caret.
 *
 * @param {string} before The line up to the caret.
 * @returns {{kind: Kind, query: string, length: number} | undefined} `length`: of the text that a choice replaces.
 */
export function wantedAt(before) {
  for (const [kind, pattern] of triggers) {
    const found = pattern.exec(before);
    if (found) return { kind, query: found[2] ?? "", length: found[1]?.length ?? 0 };
  }
  return undefined;
}

const folded = (/** @type {string} */ text) => text.toLocaleLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

/** @param {Choice[]} choices @param {string} query @returns {Choice[]} The matches, those at the start first. */
export function matching(choices, query) {
  const wanted = folded(query);
  const ranked = choices.flatMap((choice) => {
    const label = folded(choice.label);
    const words = folded(choice.words ?? "");
    const begins = label.startsWith(wanted) || words.startsWith(wanted);
    return begins || label.includes(wanted) || words.includes(wanted) ? [{ choice, rank: begins ? 0 : 1 }] : [];
  });
  return ranked.sort((one, other) => one.rank - other.rank).slice(0, shownMax).map(({ choice }) => choice);
}

/** @param {Date} date @returns {string} The date in ISO 8601 form, in the local time zone. */
const dayOf = (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

const table = "| ¦    |     |     |\n| --- | --- | --- |\n|     |     |     |";

/**
 * @param {import("../../ground/language.js").t} t
 * @param {{addFile: () => void, useTemplate: () => void}} actions
 * @returns {Choice[]}
 */
export const partsOfText = (t, { addFile, useTemplate }) => [
  ...[1, 2, 3].map((level) => ({ label: t("insert.heading", { level }), hint: "#".repeat(level), insert: `${"#".repeat(level)} ¦`, words: `heading${level}` })),
  { label: t("edit.bullets"), hint: "-", insert: "- ¦", words: "list" },
  { label: t("edit.numbers"), hint: "1.", insert: "1. ¦", words: "numbers" },
  { label: t("edit.boxes"), hint: "- [ ]", insert: "- [ ] ¦", words: "task todo" },
  { label: t("edit.table"), hint: "| |", insert: table, words: "table" },
  { label: t("edit.code"), hint: "```", insert: "```¦\n\n```", words: "code" },
  { label: t("edit.quote"), hint: ">", insert: "> ¦", words: "quote" },
  { label: t("insert.callout"), hint: "> [!NOTE]", insert: "> [!NOTE]\n> ¦", words: "callout note" },
  { label: t("insert.formula"), hint: "$$", insert: "$$\n¦\n$$", words: "formula math" },
  { label: t("insert.date"), hint: dayOf(new Date()), insert: `${dayOf(new Date())}¦`, words: "date today" },
  { label: t("file.add"), run: addFile, words: "picture image file" },
  { label: t("insert.template"), run: useTemplate, words: "template" },
];

/** @param {string[]} names @returns {Choice[]} */
export const people = (names) => [...new Set(names)].map((name) => ({ label: name, insert: `@${name.replace(/[\\[\]`*_<>&!~^]/g, "\\$&")} ¦` }));

/** @param {{id: string, title: string}[]} notes @param {(note: {id: string, title: string}) => string} linkTo @returns {Choice[]} */
export const notesToLink = (notes, linkTo) => notes.map((note) => ({ label: note.title || note.id, insert: `${linkTo(note)}¦` }));

/** @returns {Choice[]} */
export const emojiChoices = () => emoji.map(([sign, name]) => ({ label: `${sign} ${name.split(" ")[0]}`, insert: `${sign}¦`, words: name }));
