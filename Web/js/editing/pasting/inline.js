// Converts pieces of text with marks to Markdown.

import { markdownLanguage } from "../../codemirror.js";

/** @typedef {import("./markup.js").Marks} Marks */
/** A piece of a paragraph: text, a line break, or Markdown that is inserted unaltered. */
/** @typedef {{text: string, marks: Marks, isBreak?: boolean, isMarkdown?: boolean}} Piece */

const names = /** @type {const} */ (["link", "bold", "italic", "strike"]);
const emphases = /** @type {const} */ (["bold", "italic", "strike"]);
const signs = { bold: "**", italic: "*", strike: "~~" };

const isSpace = (/** @type {string} */ sign) => sign === "" || /\s/.test(sign);
const isWord = (/** @type {string} */ sign) => /[\p{L}\p{N}]/u.test(sign);
const raisedDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** @param {Marks} one @param {Marks} other */
const areSame = (one, other) => one.code === other.code && names.every((name) => one[name] === other[name]);

/** @param {Marks} one @param {Marks} other @returns {Marks} The marks that both have. */
const common = (one, other) => ({
  bold: Boolean(one.bold && other.bold),
  italic: Boolean(one.italic && other.italic),
  strike: Boolean(one.strike && other.strike),
  link: one.link === other.link ? one.link : undefined,
});

/**
 * Escapes a text, so that Markdown shows it literally.
 *
 * @param {string} text
 * @param {string} before The character before the text.
 * @param {string} after The character after the text.
 */
export function escaped(text, before = "", after = "") {
  // The position of the last "$" that could end a formula.
  const end = [...text.matchAll(/\$(?!\d)/g)].pop()?.index ?? -1;
  return text.replace(/[\\`*_[<&~^$]/g, (sign, /** @type {number} */ at) => {
    const last = at > 0 ? text.charAt(at - 1) : before;
    const next = at + 1 < text.length ? text.charAt(at + 1) : after;
    const rest = text.slice(at, at + 40);
    const isKept =
      (sign === "\\" && !/[!-/:-@[-`{-~]/.test(next) && next !== "") ||
      (sign === "*" && isSpace(last) && isSpace(next)) ||
      (sign === "_" && ((isSpace(last) && isSpace(next)) || (isWord(last) && isWord(next)))) ||
      (sign === "<" && !/[a-z/!?]/i.test(next)) ||
      (sign === "&" && !/^&#?\w{1,31};/.test(rest)) ||
      ((sign === "~" || sign === "^") && isSpace(last) && isSpace(next)) ||
      // An amount such as $5 does not begin a formula unless a later "$" could end it.
      (sign === "$" && (isSpace(next) || (/\d/.test(next) && end < at)));
    return isKept ? sign : `\\${sign}`;
  });
}

/** @param {string} line A line whose start Markdown might read as a block's mark. */
const withSafeStart = (line) =>
  line
    .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|(?:=+|-{2,})\s*$|~~~|[|:-][-|: ]*$|_(?:\s*_){2,}\s*$)/, "\\")
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, "$1\\");

/** @param {string} text @param {number} least @returns {number} The longest run of backticks, at least `least`. */
export function longestTicks(text, least) {
  let most = least;
  for (const [ticks] of text.matchAll(/`+/g)) most = Math.max(most, ticks?.length ?? 0);
  return most;
}

/** @param {string} text */
function asCode(text) {
  const fence = "`".repeat(1 + longestTicks(text, 0));
  const room = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${room}${text}${room}${fence}`;
}

/** @param {Piece[]} pieces @returns {Piece[]} The pieces with single spaces, and none at line ends. */
function collapsed(pieces) {
  /** @type {Piece[]} */
  const made = [];
  for (const piece of pieces) {
    const last = made[made.length - 1];
    if (piece.isBreak) {
      if (last && !last.isBreak) last.text = last.text.trimEnd();
      made.push({ ...piece });
      continue;
    }
    let text = piece.isMarkdown ? piece.text : piece.text.replace(/[ \t\n\f\r\u00a0]+/g, " ").replace(/[\u200b\ufeff\0]/g, "");
    if (piece.marks.raised && /^\d{1,3}$/.test(text)) text = text.replace(/\d/g, (digit) => raisedDigits[Number(digit)] ?? digit);
    if (!last || /\s$/.test(last.text)) text = text.trimStart();
    if (text) made.push({ ...piece, text });
  }
  while (made.length > 0) {
    const last = /** @type {Piece} */ (made[made.length - 1]);
    last.text = last.text.trimEnd();
    if (last.text) break;
    made.pop();
  }
  return made;
}

/** The maximum UTF-16 units at the end of a piece that are searched for punctuation. */
const punctuationMax = 50;

/**
 * Moves spaces out of marks, and punctuation next to letters, because `**a: **b` and `**a:**b` mark nothing.
 *
 * @param {Piece[]} pieces
 * @returns {Piece[]}
 */
function withLooseEnds(pieces) {
  /** @type {Piece[]} */
  const parts = [];
  pieces.forEach((piece, index) => {
    const { text, marks, isMarkdown } = piece;
    if (piece.isBreak || isMarkdown || marks.code) return void parts.push(piece);
    const before = pieces[index - 1];
    const after = pieces[index + 1];
    if (!text.trim()) return void parts.push({ text, marks: before && after ? common(before.marks, after.marks) : {} });
    const isMarked = marks.bold || marks.italic || marks.strike;
    const isTight = (/** @type {Piece | undefined} */ beside, /** @type {string} */ sign) =>
      isMarked && beside && !areSame(common(marks, beside.marks), common(marks, marks)) && isWord(sign);
    let lead = (isTight(before, before?.text.slice(-1) ?? "") ? /^[\s\p{P}]+/u : /^\s+/).exec(text)?.[0] ?? "";
    const rest = text.slice(lead.length);
    const trail = (isTight(after, after?.text.charAt(0) ?? "") ? /[\s\p{P}]+$/u : /\s+$/).exec(rest.slice(-punctuationMax))?.[0] ?? "";
    let core = rest.slice(0, rest.length - trail.length);
    // A closing bracket remains with its opening bracket.
    if (/^[\p{Pe}\p{Pf}]/u.test(trail) && /^[\p{Ps}\p{Pi}]/u.test(core)) [lead, core] = [lead + core.charAt(0), core.slice(1)];
    if (lead) parts.push({ text: lead, marks: before ? common(before.marks, marks) : {} });
    if (core) parts.push({ text: core, marks });
    if (trail) parts.push({ text: trail, marks: after ? common(marks, after.marks) : {} });
  });
  return parts;
}

/** @param {Piece[]} pieces @returns {Piece[]} */
function merged(pieces) {
  /** @type {Piece[]} */
  const made = [];
  for (const piece of pieces) {
    const last = made[made.length - 1];
    const isText = (/** @type {Piece | undefined} */ one) => one && !one.isMarkdown && !one.isBreak;
    if (last && isText(last) && isText(piece) && areSame(last.marks, piece.marks)) last.text += piece.text;
    else made.push({ ...piece });
  }
  return made;
}

/**
 * Whether the parser recognises all marks of a text.
 *
 * @param {string} markdown
 * @param {Piece[]} pieces
 */
function areRead(markdown, pieces) {
  let signsLength = 0;
  markdownLanguage.parser.parse(markdown).iterate({
    enter: (/** @type {{name: string, from: number, to: number}} */ { name, from, to }) => {
      if (name === "EmphasisMark" || name === "StrikethroughMark") signsLength += to - from;
    },
  });
  return signsLength === written(pieces, {}).signsLength;
}

/** @param {Piece[]} pieces @returns {boolean} Whether different marks meet without a space; not all can be written. */
function isRisky(pieces) {
  const kinds = emphases.filter((name) => pieces.some(({ marks }) => marks[name]));
  if (kinds.length < 2) return false;
  return pieces.some(({ text, marks }, index) => {
    const next = pieces[index + 1];
    return next && /\S$/.test(text) && /^\S/.test(next.text) && emphases.some((name) => marks[name] !== next.marks[name]);
  });
}

/**
 * Returns the Markdown of a paragraph.
 *
 * @param {Piece[]} given
 * @param {{isCell?: boolean, isHeading?: boolean}} [place] Cells and headings have one line; headings are bold.
 * @returns {string}
 */
export function inlineMarkdown(given, place = {}) {
  const isOneLine = place.isCell || place.isHeading;
  const plain = given.map((piece) => ({
    ...piece,
    ...(isOneLine && piece.isBreak && { text: " ", isBreak: false }),
    ...(place.isHeading && { marks: { ...piece.marks, bold: false } }),
  }));
  let pieces = merged(withLooseEnds(merged(collapsed(plain))));
  let { text } = written(pieces, place);
  if (isRisky(pieces)) {
    // Preserving all letters is more important than preserving all marks.
    for (const name of /** @type {const} */ (["strike", "italic", "bold"])) {
      if (areRead(text, pieces)) break;
      pieces = merged(pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, [name]: false } })));
      text = written(pieces, place).text;
    }
  }
  return isOneLine ? text : text.split("\n").map(withSafeStart).join("\n");
}

/**
 * @param {Piece[]} pieces
 * @param {{isCell?: boolean}} place
 * @returns {{text: string, signsLength: number}} `signsLength`: the length of all marks except links.
 */
function written(pieces, { isCell = false }) {
  /** @type {(typeof names)[number][]} */
  let open = [];
  /** @type {Marks} */
  let now = {};
  let made = "";
  let signsLength = 0;
  const sign = (/** @type {"bold" | "italic" | "strike"} */ name) => {
    made += signs[name];
    signsLength += signs[name].length;
  };
  const close = (/** @type {Marks} */ next) => {
    const kept = open.findIndex((name) => !next[name] || next[name] !== now[name]);
    for (const name of kept < 0 ? [] : open.splice(kept).reverse()) {
      if (name === "link") made += `](${now.link?.href ?? ""})`;
      else sign(name);
    }
  };
  pieces.forEach(({ text: whole, marks, isBreak, isMarkdown }, index) => {
    close(marks);
    now = marks;
    const opened = names.filter((name) => marks[name] && !open.includes(name));
    // A mark never opens before a space or a line break.
    const lead = opened.length > 0 && !isMarkdown ? (/^\s+/.exec(whole)?.[0] ?? "") : "";
    const text = isBreak ? "" : whole.slice(lead.length);
    made += isBreak ? "\\\n" : lead;
    if (!text) return;
    for (const name of opened) {
      open.push(name);
      if (name === "link") made += "[";
      else sign(name);
    }
    const letters = isMarkdown
      ? text
      : marks.code
        ? asCode(text)
        : escaped(text, pieces[index - 1]?.text.slice(-1), pieces[index + 1]?.text.charAt(0));
    const inLink = marks.link && !marks.code && !isMarkdown ? letters.replace(/\]/g, "\\]") : letters;
    made += isCell ? inLink.replace(/\|/g, "\\|") : inLink;
  });
  close({});
  return { text: made, signsLength };
}
