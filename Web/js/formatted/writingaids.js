// What helps with writing in a formatted note: the bars, the menu at the caret, and links that are followed.

import { byId, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { isApple, isOfComposition } from "../ground/shortcuts.js";
import { authorised, request } from "../client/http.js";
import { messageOf } from "../client/words.js";
import { followAddress, saveFileHere } from "../links/addresses.js";
import { openSearch } from "../search/searching.js";
import { list } from "../state/session.js";
import { FormatBar, SelectionBar } from "./bars.js";
import { ChoiceList } from "./choicelist.js";
import { insertRule, run } from "./commands.js";
import { documentOf } from "./document.js";
import { toggleKind } from "./linecommands.js";
import { mentionOf, peopleToMention } from "./mentions.js";
import { markOf, schema } from "./schema.js";
import { Plugin, Slice } from "../prosemirror.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {import("../prosemirror.js").EditorState} EditorState
 * @typedef {import("./choicelist.js").Choice} Choice
 * @typedef {import("../state/shownnote.js").ShownNote} Note
 */

const isMac = isApple(navigator);

/** @param {EditorView} view @param {number} from @param {number} to @param {any[]} nodes Replaces the typed words. */
function put(view, from, to, nodes) {
  const tr = view.state.tr.replaceWith(from, to, nodes);
  view.dispatch(tr.setStoredMarks([]).scrollIntoView());
}

/** @param {Date} date @returns {string} In ISO 8601, in the local time zone. */
const dayOf = (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** @param {EditorView} view Inserts the content of another note at the caret. */
function useTemplate(view) {
  void openSearch("", async ({ id }) => {
    try {
      const response = await authorised(`/api/notes/${encodeURIComponent(id)}/text`, { Accept: "text/plain" });
      const text = (await response?.text()) ?? "";
      const { content } = documentOf(text.replace(/\r\n?/g, "\n"), undefined);
      if (!view.isDestroyed && view.editable) view.dispatch(view.state.tr.replaceSelection(new Slice(content, 1, 1)).scrollIntoView());
    } catch (error) {
      toast(messageOf(error));
    }
    view.focus();
  });
}

/** @returns {Choice[]} */
function parts() {
  const kind = (/** @type {string} */ label, /** @type {string} */ hint, /** @type {string} */ value, /** @type {string} */ words) => ({
    label, hint, words,
    take: (/** @type {EditorView} */ view, /** @type {number} */ from, /** @type {number} */ to) => {
      view.dispatch(view.state.tr.delete(from, to));
      run(view, toggleKind(value));
    },
  });
  const act = (/** @type {string} */ label, /** @type {string} */ words, /** @type {(view: EditorView) => void} */ doIt, hint = "") => ({
    label, words, hint,
    take: (/** @type {EditorView} */ view, /** @type {number} */ from, /** @type {number} */ to) => {
      view.dispatch(view.state.tr.delete(from, to));
      doIt(view);
    },
  });
  return [
    ...[1, 2, 3].map((level) => kind(t("insert.heading", { level }), "#".repeat(level), `h${level}`, `heading${level}`)),
    kind(t("edit.bullets"), "-", "bullet", "list"),
    kind(t("edit.numbers"), "1.", "ordered", "numbers"),
    kind(t("edit.boxes"), "[]", "task", "task todo"),
    kind(t("formatted.codeBlock"), "```", "code", "code"),
    kind(t("edit.quote"), ">", "quote", "quote"),
    act(t("formatted.rule"), "rule line", (view) => run(view, insertRule), "---"),
    act(t("insert.date"), "date today", (view) => view.dispatch(view.state.tr.insertText(dayOf(new Date()))), dayOf(new Date())),
    act(t("file.add"), "picture image file", () => byId("file").click()),
    act(t("insert.template"), "template", useTemplate),
  ];
}

/** @param {Note} note @returns {() => string[]} The names of the note's newest authors, once the server has told them. */
function authorsOf({ documentId }) {
  /** @type {string[] | undefined} */
  let names;
  /** @param {import("../history/sessions.js").Answer} answer */
  const take = ({ sessions }) => (names = sessions.flatMap(({ authors }) => authors.map(({ author }) => author)));
  return () => {
    if (!names) request(`/api/notes/${encodeURIComponent(documentId)}/sessions`).then(take, () => {});
    return (names ??= []);
  };
}

/** @param {Note} note @param {() => string[]} authors @param {import("../prosemirror.js").Node} doc @returns {Choice[]} */
const people = (note, authors, doc) =>
  peopleToMention(note.people, doc, authors()).map((person) => ({
    label: person.name,
    take: (view, from, to) => put(view, from, to, [mentionOf(person), schema.text(" ")]),
  }));

/** @param {Note} note @returns {Choice[]} */
const notes = (note) =>
  (list.notes ?? []).filter(({ id }) => id !== note.documentId).map(({ id, title }) => ({
    label: title || id,
    take: (view, from, to) => put(view, from, to, [schema.text(title || id, [markOf("link", `/n/${encodeURIComponent(id)}`)])]),
  }));

class WritingAids {
  #note;
  #commands;
  /** @type {EditorView | undefined} */
  #view;
  /** @type {FormatBar | undefined} */
  #bar;
  /** @type {SelectionBar | undefined} */
  #selectionBar;
  #menu;
  /** @type {typeof import("../editing/writing/choices.js") | undefined} */
  #words;

  /** @param {Note} note @param {() => import("./commands.js").EditorCommand[]} commands */
  constructor(note, commands) {
    this.#note = note;
    this.#commands = commands;
    const authors = authorsOf(note);
    this.#menu = new ChoiceList((kind) =>
      kind === "part" ? parts() : kind === "person" ? this.#people(authors) : kind === "note" ? notes(note) : this.#emoji());
    this.plugins = [
      new Plugin({ props: { handleKeyDown: (/** @type {EditorView} */ _, /** @type {KeyboardEvent} */ event) => this.#key(event) } }),
    ];
  }

  /** @param {EditorView} view @param {import("./surface.js").TextSurface} surface */
  begin(view, surface) {
    this.#view = view;
    this.#bar = new FormatBar(view, this.#commands());
    this.#selectionBar = new SelectionBar(view, surface, this.#commands());
    this.#menu.begin(view, surface.frame);
  }

  destroy() {
    this.#bar?.destroy();
    this.#selectionBar?.destroy();
    this.#menu.destroy();
  }

  /** @param {EditorState} before @param {EditorState} now @param {boolean} isOwn Whether this user edited the text. */
  update(before, now, isOwn) {
    if (before.doc === now.doc && before.selection.eq(now.selection) && before.storedMarks === now.storedMarks) return;
    this.#bar?.draw();
    this.#selectionBar?.draw();
    void this.#menu.look(isOwn);
  }

  /** Draws what depends on whether the note may be edited. */
  draw() {
    this.#bar?.draw();
    this.#selectionBar?.draw();
  }

  /** @param {() => string[]} authors @returns {Choice[]} */
  #people(authors) {
    return this.#view ? people(this.#note, authors, this.#view.state.doc) : [];
  }

  /** @returns {Choice[]} */
  #emoji() {
    if (!this.#words) void import("../editing/writing/choices.js").then((words) => (this.#words = words), () => {});
    return (this.#words?.emojiChoices() ?? []).map(({ label, words }) => ({
      label, words, take: (view, from, to) => view.dispatch(view.state.tr.insertText(label.split(" ")[0] ?? "", from, to)),
    }));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.#menu.key(event)) return true;
    if (event.key !== "F10" || !event.altKey || isOfComposition(event)) return false;
    if (!this.#selectionBar?.focus()) this.#bar?.focus();
    return true;
  }

  /** @param {MouseEvent} event @returns {boolean} Whether it was a link that is followed. */
  click(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!(link instanceof HTMLAnchorElement) || event.button !== 0) return false;
    // A browser would leave the page.
    event.preventDefault();
    const isFollowing = !this.#view?.editable || (isMac ? event.metaKey : event.ctrlKey);
    if (link.dataset.file) void saveFileHere(link.dataset.file);
    else if (isFollowing) followAddress(link.title);
    return isFollowing;
  }
}

/** @param {Note} note @param {() => import("./commands.js").EditorCommand[]} commands */
export const writingAids = (note, commands) => new WritingAids(note, commands);
