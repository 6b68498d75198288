// The search of notes: by title at once, then by text, with an excerpt; it opens the note at the place. After “>”, or by
// their first letters, it finds commands.
//
// A combobox over a list: the focus stays in the field, and the arrow keys choose in the list.

import { commandsNow } from "./commands.js";
import { icon, showModal } from "../shell/dialogs.js";
import { RequestError, request } from "../client/http.js";
import { t } from "../shell/language.js";
import { when } from "../notes/notes.js";
import { go, pathOf } from "../routes.js";
import { searchStyles } from "./searchsheet.js";
import { list } from "../session.js";
import { isOfComposition } from "../shell/shortcuts.js";
import { focusIdle, showPlace } from "../editing/textplace.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("./foundplace.js").Place} Place
 * @typedef {Place["marks"][0]} Mark
 * @typedef {{id: string, title: string, updatedAt: string, titleMarks?: Mark[], place?: Place}} Found
 * @typedef {import("./commands.js").Command} Command
 * @typedef {Found | Command} Offered
 */

const sheet = new CSSStyleSheet();
sheet.replaceSync(await searchStyles());
document.adoptedStyleSheets.push(sheet);

/** Before the words of a command. */
const sign = ">";
/** The most commands that are offered beside notes, and the letters that have to be typed before. */
const besideMax = 3;
const besideMin = 2;

/** The most notes that are shown before a word is typed, and the most with the word in their titles. */
const titlesMax = 8;
const foundMax = 20;
/** The pause in typing after which the texts are searched; milliseconds. */
const typingPause = 150;
/** After how long an edit is found, and a little more; milliseconds. Then a search without results is repeated. */
const indexPause = 2_500;

/** @type {ReturnType<typeof makePalette> | undefined} */
let palette;

/**
 * @param {string} words To begin with.
 * @param {(note: {id: string, title: string}) => void} [choose] Takes the chosen note, instead of opening it.
 */
export function showPalette(words, choose) {
  palette ??= makePalette();
  palette.show(words, choose);
}

function makePalette() {
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", t("search.label"));
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
  const box = document.createElement("ul");
  box.id = "palette-list";
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", t("list.label"));
  const state = document.createElement("p");
  state.className = "palette-state";
  state.setAttribute("role", "status");
  dialog.append(field, box, state);
  document.body.append(dialog);

  /** @type {Offered[]} */
  let shown = [];
  let chosen = 0;
  /** @type {((note: Found) => void) | undefined} */
  let whenChosen;
  /** @type {any} */
  let timer;
  /** @type {AbortController | undefined} */
  let asking;

  /** @param {Offered[]} offered @param {string} text For a screen reader, too. */
  function draw(offered, text) {
    const former = shown[chosen];
    shown = offered;
    chosen = Math.max(0, offered.findIndex((one) => former !== undefined && nameOf(one) === nameOf(former)));
    box.replaceChildren(...offered.map((one, index) => ("run" in one ? commandRow(one, index) : row(one, index))));
    box.hidden = offered.length === 0;
    field.setAttribute("aria-expanded", String(offered.length > 0));
    state.textContent = text;
    choose(chosen);
  }

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    [...box.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === index)));
    const item = box.children[index];
    if (item) field.setAttribute("aria-activedescendant", item.id);
    else field.removeAttribute("aria-activedescendant");
    item?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Offered} offered @param {number} index */
  function option(offered, index) {
    const item = document.createElement("li");
    item.id = `palette-${index}`;
    item.setAttribute("role", "option");
    item.addEventListener("pointermove", () => {
      if (chosen !== index) choose(index);
    });
    item.addEventListener("click", () => open(offered));
    return item;
  }

  /** @param {Command} command @param {number} index */
  function commandRow(command, index) {
    const item = option(command, index);
    item.className = "palette-command";
    const label = document.createElement("span");
    label.textContent = command.label;
    const keys = document.createElement("kbd");
    keys.textContent = command.keys ?? "";
    item.append(icon(command.icon ?? "check"), label, ...(command.keys ? [keys] : []));
    return item;
  }

  /** @param {Found} found @param {number} index */
  function row(found, index) {
    const item = option(found, index);
    const title = document.createElement("span");
    title.className = "note-title" + (found.title ? "" : " is-untitled");
    title.dir = "auto";
    title.append(...marked(found.title || t("untitled"), found.title ? found.titleMarks : []));
    const detail = document.createElement("span");
    detail.className = "note-when";
    detail.textContent = when(found.updatedAt);
    item.append(title, detail);
    if (found.place?.marks.length) {
      const place = document.createElement("span");
      place.className = "palette-place";
      place.dir = "auto";
      place.append(...marked(found.place.text, found.place.marks));
      item.append(place);
    }
    return item;
  }

  /** @param {Offered} found */
  function open(found) {
    dialog.close();
    if ("run" in found) return found.run();
    if (whenChosen) return whenChosen(found);
    if (found.place) showPlace(found.id, found.place);
    // The focus goes to the text when it is there, not back to where the search was opened.
    /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
    go(pathOf(found.id));
    focusIdle();
  }

  /** Searches the titles at once, and the texts after a pause in typing. */
  function look() {
    clearTimeout(timer);
    asking?.abort();
    const words = field.value.trim();
    if (words.startsWith(sign) && !whenChosen) {
      const commands = commandsWith(words.slice(sign.length).trim());
      draw(commands, commands.length ? "" : t("search.noCommand"));
      return;
    }
    const titles = titled(words);
    if (words === "") {
      draw(titles, whenChosen ? "" : t("search.hint", { sign }));
      return;
    }
    const commands = words.length < besideMin || whenChosen ? [] : commandsWith(words, true).slice(0, besideMax);
    draw([...titles, ...commands], t("search.searching"));
    timer = setTimeout(() => void search(words, titles, commands), typingPause);
  }

  /** @param {string} words @param {Found[]} titles @param {Command[]} commands @param {boolean} [isLast] */
  async function search(words, titles, commands, isLast = false) {
    const mine = (asking = new AbortController());
    try {
      /** @type {{notes: Found[], more?: boolean}} */
      const answer = await request(
        `/api/search?limit=${foundMax}&q=${encodeURIComponent(words)}`, "GET", undefined, mine.signal);
      if (mine.signal.aborted || (isLast && !answer.notes.length)) return;
      const places = new Map(answer.notes.map((found) => [found.id, found]));
      const first = titles.map((found) => places.get(found.id) ?? found);
      const rest = answer.notes.filter(({ id }) => !titles.some((found) => found.id === id));
      const all = [...first, ...rest];
      const said = answer.more ? "search.best" : "search.found";
      draw([...first, ...commands, ...rest], all.length ? t(said, { count: all.length }) : t("search.none"));
      // The words may just have been written.
      if (!answer.notes.length && !isLast) timer = setTimeout(() => void search(words, titles, commands, true), indexPause);
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!(error instanceof RequestError)) console.error(error);
      draw([...titles, ...commands], messageOf(error));
    }
  }

  field.addEventListener("input", look);
  field.addEventListener("keydown", (event) => {
    if (isOfComposition(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length) choose((chosen + step + shown.length) % shown.length);
    else if (event.key === "Enter") {
      const found = shown[chosen];
      if (found) open(found);
    } else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    // A click outside of the dialog's content is on its backdrop.
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    // The event may come late, when the user searches again.
    if (dialog.open) return;
    clearTimeout(timer);
    asking?.abort();
  });

  return {
    /** @param {string} words @param {(note: Found) => void} [choose] */
    show(words, choose) {
      if (dialog.open) return;
      whenChosen = choose;
      field.value = words;
      shown = [];
      showModal(dialog);
      field.select();
      look();
    },
  };
}

/** @param {Offered} offered @returns {string} A unique key. */
const nameOf = (offered) => ("run" in offered ? `${sign}${offered.label}` : offered.id);

/** @param {string} words @param {boolean} [areFirst] Whether a command has to begin with them. */
function commandsWith(words, areFirst = false) {
  const wanted = words.toLocaleLowerCase();
  return commandsNow().filter(({ label }) => {
    const found = label.toLocaleLowerCase().indexOf(wanted);
    return areFirst ? found === 0 : found >= 0;
  });
}

/** @param {string} words @returns {Found[]} Notes with the words in their titles, the last changed first. */
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
