// Content that is pasted or dropped into a text, or chosen for it. The editor handles plain text itself; for HTML,
// addresses and files, the page fetches a module. Until it has arrived, the content's position moves with the text.

import { ViewPlugin } from "../codemirror.js";
import { wholeText } from "../ground/lineends.js";
import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {import("../codemirror.js").EditorView} EditorView
 * @typedef {{from: number, to: number, stop: AbortController}} Range A range that moves with the text.
 */

const load = () => import("./pasting/pasting.js");

class Brought {
  #note;
  /** @type {Set<Range>} */
  #awaited = new Set();
  /** @type {ReturnType<typeof import("./pasting/uploads.js").uploadsInto> | undefined} */
  #uploads;
  #hasLeft = false;
  /** Whether the next paste is plain text. */
  #isPlain = false;
  #isOwnDrag = false;

  /** @param {import("../client/note.js").Note} note */
  constructor(note) {
    this.#note = note;
  }

  /** @param {EditorView} view @param {File[]} files @param {number} place */
  take(view, files, place) {
    if (view.state.readOnly) return toast(t("note.readOnlyHint"));
    void this.#withPart(
      { from: place, to: place },
      (part, range) => (this.#uploads ??= part.uploadsInto(this.#note, view)).add(files, range.from),
      (error) => toast(t("file.failed", { name: files[0]?.name ?? "", reason: messageOf(error) })),
    );
  }

  destroy() {
    this.#hasLeft = true;
    this.#uploads?.destroy();
  }

  /** The editor extension. */
  get extension() {
    const follow = (/** @type {import("../codemirror.js").ViewUpdate} */ update) => this.#follow(update);
    return ViewPlugin.define(() => ({ update: follow }), {
      eventHandlers: {
        keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
        dragstart: () => void (this.#isOwnDrag = true),
        dragend: () => void (this.#isOwnDrag = false),
        paste: (/** @type {ClipboardEvent} */ event, /** @type {EditorView} */ view) => this.#paste(event, view),
        drop: (/** @type {DragEvent} */ event, /** @type {EditorView} */ view) => this.#drop(event, view),
      },
    });
  }

  /**
   * @param {{from: number, to: number}} place
   * @param {(part: Awaited<ReturnType<typeof load>>, range: Range) => unknown} use
   * @param {(error: unknown, range: Range) => void} otherwise
   */
  async #withPart(place, use, otherwise) {
    const range = { ...place, stop: new AbortController() };
    this.#awaited.add(range);
    try {
      const part = await load();
      if (!this.#hasLeft) await use(part, range);
    } catch (error) {
      console.warn(error);
      if (!this.#hasLeft) otherwise(error, range);
    } finally {
      this.#awaited.delete(range);
    }
  }

  /** @param {EditorView} view @param {{html: string, text: string}} data @param {{from: number, to: number}} place */
  #convert(view, { html, text }, place) {
    void this.#withPart(
      place,
      (part, range) => part.pasteHTML(view, { html, text, range, isGone: () => this.#hasLeft }),
      (_, { from, to }) => view.dispatch({ changes: { from, to, insert: wholeText(text) }, userEvent: "input.paste" }),
    );
  }

  /** @param {ClipboardEvent} event @param {EditorView} view */
  #paste({ clipboardData: data }, view) {
    const wantsPlain = this.#isPlain;
    this.#isPlain = false;
    const files = [...(data?.files ?? [])];
    const text = data?.getData("text/plain") ?? "";
    const { from, to } = view.state.selection.main;
    // Text together with a picture of it, as from a spreadsheet, is pasted as text.
    if (files.length > 0 && !text) {
      this.take(view, files, to);
      return true;
    }
    const html = data?.getData("text/html") ?? "";
    const isAddress = from < to && /^\s*(?:https?:\/\/|mailto:)\S+\s*$/i.test(text);
    if (view.state.readOnly || wantsPlain || (!html && !isAddress)) return false;
    this.#convert(view, { html, text }, { from, to });
    return true;
  }

  /** @param {DragEvent} event @param {EditorView} view */
  #drop({ dataTransfer: data, clientX: x, clientY: y }, view) {
    const files = [...(data?.files ?? [])];
    const place = view.posAtCoords({ x, y }) ?? view.state.selection.main.to;
    const html = data?.getData("text/html");
    if (files.length > 0) this.take(view, files, place);
    // The editor itself moves parts of its text.
    else if (html && !this.#isOwnDrag && !view.state.readOnly) {
      this.#convert(view, { html, text: data?.getData("text/plain") ?? "" }, { from: place, to: place });
    } else return false;
    return true;
  }

  /** @param {KeyboardEvent} event */
  #key({ key, shiftKey }) {
    this.#isPlain = shiftKey && key.toLowerCase() === "v";
    if (key === "Escape") for (const { stop } of this.#awaited) stop.abort();
  }

  /** @param {import("../codemirror.js").ViewUpdate} update */
  #follow({ docChanged, changes }) {
    if (!docChanged) return;
    for (const range of this.#awaited) {
      const isEmpty = range.from === range.to;
      range.from = changes.mapPos(range.from, isEmpty ? -1 : 1);
      range.to = Math.max(range.from, changes.mapPos(range.to, -1));
    }
  }
}

/** @param {import("../client/note.js").Note} note */
export const contentInsertion = (note) => new Brought(note);
