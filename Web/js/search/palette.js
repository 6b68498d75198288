// The search of notes: by title at once, then by text, with an excerpt. Opening a result shows the passage that was
// found. Commands are found after “>”, or by their first letters.
//
// A combobox with a list: the focus stays in the field, and the arrow keys select an entry.

import { commandsNow } from "../state/commands.js";
import { icon, showModal } from "../ground/dialogs.js";
import { RequestError, request } from "../client/http.js";
import { t } from "../ground/language.js";
import { when } from "../state/notes.js";
import { go, pathOf } from "../state/routes.js";
import { searchStyles } from "./searchsheet.js";
import { list } from "../state/session.js";
import { isOfComposition } from "../ground/shortcuts.js";
import { page } from "../state/page.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {import("../editing/foundplace.js").Place} Place
 * @typedef {Place["marks"][0]} Mark
 * @typedef {{id: string, title: string, updatedAt: string, titleMarks?: Mark[], place?: Place}} Found
 * @typedef {import("../state/commands.js").Command} Command
 * @typedef {Found | Command} Offered
 */

const sheet = new CSSStyleSheet();
sheet.replaceSync(await searchStyles());
document.adoptedStyleSheets.push(sheet);

/** The prefix of a search for commands. */
const sign = ">";
/** Maximum commands offered beside notes, and minimum letters that have to be typed for them. */
const besideMax = 3;
const besideMin = 2;

/** Maximum notes found by title, and maximum results of the server. */
const titlesMax = 8;
const foundMax = 20;
/** Pause in typing after which the texts are searched; milliseconds. */
const typingPause = 150;
/** Time until an edit can be found, with a margin; milliseconds. Then a search without results is repeated once. */
const indexPause = 2_500;

/** @type {Palette | undefined} */
let palette;

/**
 * @param {string} words The initial text of the field.
 * @param {(note: {id: string, title: string}) => void} [choose] Called with the chosen note, which is not opened then.
 */
export function showPalette(words, choose) {
  palette ??= new Palette();
  palette.show(words, choose);
}

function makeField() {
  const field = document.createElement("input");
  field.id = "palette-field";
  field.type = "text";
  field.dir = "auto";
  field.autocomplete = "off";
  field.spellcheck = false;
  field.maxLength = 200;
  field.enterKeyHint = "go";
  field.placeholder = t("search.placeholder");
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-label", t("search.label"));
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", "palette-list");
  return field;
}

function makeListBox() {
  const box = document.createElement("ul");
  box.id = "palette-list";
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", t("list.label"));
  return box;
}

function makeState() {
  const state = document.createElement("p");
  state.className = "palette-state";
  state.setAttribute("role", "status");
  return state;
}

class Palette {
  #dialog = document.createElement("dialog");
  #field = makeField();
  #box = makeListBox();
  #state = makeState();
  /** @type {Offered[]} */
  #shown = [];
  /** The index of the selected entry in `#shown`. */
  #chosen = 0;
  /** @type {((note: Found) => void) | undefined} */
  #whenChosen;
  /** @type {any} */
  #timer;
  /** @type {AbortController | undefined} */
  #asking;

  constructor() {
    const dialog = this.#dialog;
    dialog.className = "palette";
    dialog.setAttribute("aria-label", t("search.label"));
    dialog.append(this.#field, this.#box, this.#state);
    document.body.append(dialog);
    this.#field.addEventListener("input", () => this.#look());
    this.#field.addEventListener("keydown", (event) => this.#onKey(event));
    dialog.addEventListener("click", (event) => {
      // A click outside of the dialog's content is on its backdrop.
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      // The event may arrive after the user has opened the search again.
      if (!dialog.open) this.#stopSearch();
    });
  }

  /** @param {string} words @param {(note: Found) => void} [choose] */
  show(words, choose) {
    if (this.#dialog.open) return;
    this.#whenChosen = choose;
    this.#field.value = words;
    this.#shown = [];
    showModal(this.#dialog);
    this.#field.select();
    this.#look();
  }

  // The list.

  /** @param {Offered[]} offered @param {string} text Shown below the list, and announced. */
  #draw(offered, text) {
    const former = this.#shown[this.#chosen];
    this.#shown = offered;
    this.#box.replaceChildren(...offered.map((one, index) => this.#option(one, index)));
    this.#box.hidden = offered.length === 0;
    this.#field.setAttribute("aria-expanded", String(offered.length > 0));
    this.#state.textContent = text;
    this.#choose(Math.max(0, offered.findIndex((one) => former !== undefined && nameOf(one) === nameOf(former))));
  }

  /** @param {Offered} offered @param {number} index */
  #option(offered, index) {
    const option = document.createElement("li");
    option.id = `palette-${index}`;
    option.setAttribute("role", "option");
    if ("run" in offered) {
      option.className = "palette-command";
      option.append(...commandParts(offered));
    } else {
      option.append(...noteParts(offered));
    }
    option.addEventListener("pointermove", () => {
      if (this.#chosen !== index) this.#choose(index);
    });
    option.addEventListener("click", () => this.#open(offered));
    return option;
  }

  /** @param {number} index */
  #choose(index) {
    this.#chosen = index;
    [...this.#box.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
    const option = this.#box.children[index];
    if (option) this.#field.setAttribute("aria-activedescendant", option.id);
    else this.#field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (isOfComposition(event)) return;
    const { length } = this.#shown;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && length) this.#choose((this.#chosen + step + length) % length);
    else if (event.key === "Enter") {
      const offered = this.#shown[this.#chosen];
      if (offered) this.#open(offered);
    } else return;
    event.preventDefault();
  }

  /** @param {Offered} offered */
  #open(offered) {
    this.#dialog.close();
    if ("run" in offered) return offered.run();
    if (this.#whenChosen) return this.#whenChosen(offered);
    if (offered.place) page.emit("sought", { id: offered.id, place: offered.place });
    // The focus goes to the text when that is loaded, not back to where the search was opened.
    /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
    go(pathOf(offered.id));
    page.focusIdle();
  }

  // The search.

  /** Searches the titles at once, and the texts after a pause in typing. */
  #look() {
    this.#stopSearch();
    const words = this.#field.value.trim();
    const isForNote = this.#whenChosen !== undefined;
    if (words.startsWith(sign) && !isForNote) {
      const commands = commandsWith(words.slice(sign.length).trim());
      this.#draw(commands, commands.length ? "" : t("search.noCommand"));
      return;
    }
    const titles = titled(words);
    if (words === "") {
      this.#draw(titles, isForNote ? "" : t("search.hint", { sign }));
      return;
    }
    const commands = words.length < besideMin || isForNote ? [] : commandsWith(words, true).slice(0, besideMax);
    this.#draw([...titles, ...commands], t("search.searching"));
    this.#timer = setTimeout(() => void this.#search(words, titles, commands), typingPause);
  }

  #stopSearch() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  /** @param {string} words @param {Found[]} titles @param {Command[]} commands @param {boolean} [isLast] */
  async #search(words, titles, commands, isLast = false) {
    const mine = (this.#asking = new AbortController());
    try {
      /** @type {{notes: Found[], more?: boolean}} */
      const answer = await request(
        `/api/search?limit=${foundMax}&q=${encodeURIComponent(words)}`, "GET", undefined, mine.signal);
      const isNone = answer.notes.length === 0;
      if (mine.signal.aborted || (isLast && isNone)) return;
      const { first, rest } = merged(titles, answer.notes);
      const count = first.length + rest.length;
      const said = answer.more ? "search.best" : "search.found";
      this.#draw([...first, ...commands, ...rest], count ? t(said, { count }) : t("search.none"));
      // The words may have been written a moment ago, and not be indexed yet.
      if (isNone && !isLast) this.#timer = setTimeout(() => void this.#search(words, titles, commands, true), indexPause);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof RequestError)) console.error(error);
      this.#draw([...titles, ...commands], messageOf(error));
    }
  }
}

/** @param {Command} command */
function commandParts({ icon: name, label, keys }) {
  const words = document.createElement("span");
  words.textContent = label;
  if (!keys) return [icon(name ?? "check"), words];
  const shortcut = document.createElement("kbd");
  shortcut.textContent = keys;
  return [icon(name ?? "check"), words, shortcut];
}

/** @param {Found} found */
function noteParts({ title, titleMarks, updatedAt, place }) {
  const name = document.createElement("span");
  name.className = "note-title" + (title ? "" : " is-untitled");
  name.dir = "auto";
  name.append(...marked(title || t("untitled"), title ? titleMarks : []));
  const changed = document.createElement("span");
  changed.className = "note-when";
  changed.textContent = when(updatedAt);
  if (!place?.marks.length) return [name, changed];
  const excerpt = document.createElement("span");
  excerpt.className = "palette-place";
  excerpt.dir = "auto";
  excerpt.append(...marked(place.text, place.marks));
  return [name, changed, excerpt];
}

/**
 * Joins the notes found by title with the server's results.
 *
 * @param {Found[]} titles
 * @param {Found[]} answer
 * @returns {{first: Found[], rest: Found[]}} The notes found by title, with passages from the server; and the other
 * results.
 */
function merged(titles, answer) {
  const answered = new Map(answer.map((found) => [found.id, found]));
  const first = titles.map((found) => answered.get(found.id) ?? found);
  const rest = answer.filter(({ id }) => !titles.some((found) => found.id === id));
  return { first, rest };
}

/** @param {Offered} offered @returns {string} A unique key. */
const nameOf = (offered) => ("run" in offered ? `${sign}${offered.label}` : offered.id);

/** @param {string} words @param {boolean} [areFirst] Whether a label must begin with them. */
function commandsWith(words, areFirst = false) {
  const wanted = words.toLocaleLowerCase();
  return commandsNow().filter(({ label }) => {
    const found = label.toLocaleLowerCase().indexOf(wanted);
    return areFirst ? found === 0 : found >= 0;
  });
}

/** @param {string} words @returns {Found[]} Notes with the words in their titles, most recently changed first. */
function titled(words) {
  const wanted = words.toLocaleLowerCase();
  return (list.notes ?? [])
    .filter(({ title }) => title.toLocaleLowerCase().includes(wanted))
    .slice(0, titlesMax)
    .map(({ id, title, updatedAt }) => ({ id, title, updatedAt }));
}

/**
 * Returns a text with its marks as elements; the text is never parsed as HTML.
 *
 * @param {string} text
 * @param {Mark[]} [marks]
 * @returns {(string | HTMLElement)[]}
 */
function marked(text, marks = []) {
  const scalars = [...text];
  const parts = [];
  let place = 0;
  for (const { from, to } of marks) {
    parts.push(scalars.slice(place, from).join(""));
    const mark = document.createElement("mark");
    mark.textContent = scalars.slice(from, to).join("");
    parts.push(mark);
    place = to;
  }
  parts.push(scalars.slice(place).join(""));
  return parts;
}
