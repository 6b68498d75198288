// Content that is pasted or dropped into a formatted note, or chosen for it. Plain text is put in at once; for HTML and
// files, a further part of the page is fetched. Until it has arrived, the content's place moves with the text.

import { wholeText } from "../ground/lineends.js";
import { hideToast, toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { reasonOf, upload } from "../links/uploading.js";
import { Decoration, DecorationSet, Fragment, Plugin, PluginKey, Slice, TextSelection } from "../prosemirror.js";
import { readCaret } from "./caret.js";
import { documentOf, linesOf, textOf } from "./document.js";
import { addressOf, kindOf } from "./elements.js";
import { embedType, lineType, schema } from "./schema.js";
import { none, setFrom, setOf } from "./sets.js";
import { fragmentOf } from "./rendering.js";
import { linkTo } from "./textmarks.js";

/**
 * @typedef {import("../prosemirror.js").EditorView} EditorView
 * @typedef {import("../prosemirror.js").Node} Node
 * @typedef {{id: number, from: number, to: number, name: string, stop: AbortController}} Held A place for content.
 */

/** The maximum UTF-16 units of HTML that are read. */
export const htmlMax = 5_000_000;
/** The time after which a paste shows a message, in milliseconds. */
const saidAfter = 400;

const key = new PluginKey("brought");

/** @param {Slice} slice @returns {string} */
function textOfSlice({ content }) {
  /** @type {string[]} */
  const lines = [];
  content.forEach((line) => {
    let text = "";
    line.forEach((node) => (text += node.type === embedType ? nameOfEmbed(node) : textOf(node)));
    lines.push(text);
  });
  return lines.join("\n");
}

/** @param {Node} node @returns {string} */
const nameOfEmbed = ({ attrs: { embed, set } }) => set.alt ?? (embed.rule ? "---" : String(Object.values(embed)[0] ?? ""));

/** @param {Awaited<ReturnType<typeof import("./pasted.js").convert>>} made @returns {Slice | undefined} */
function sliceOf(made) {
  if (!made) return undefined;
  const pieces = made.runs.map(({ text, attributes }) => ({ text, set: setFrom(attributes) }));
  const lines = linesOf(pieces);
  // Each line ends with a newline, so that an empty one is left.
  if (lines.length > 1) lines.pop();
  return new Slice(Fragment.fromArray(lines), 1, 1);
}

/** @param {string} text @returns {Slice} Lines without attributes. */
const plainSlice = (text) => new Slice(documentOf(text, undefined).content, 1, 1);

class Brought {
  #note;
  #last = 0;
  #isPlain = false;
  #hasLeft = new AbortController();
  /** @type {Set<AbortController>} */
  #stops = new Set();
  /** Clipboards take the content as other programs write it. */
  serializer = {
    serializeFragment: (/** @type {Fragment} */ fragment) => fragmentOf(/** @type {any} */ (fragment), {}),
  };
  textOf = textOfSlice;

  /** @param {import("../state/shownnote.js").ShownNote} note */
  constructor(note) {
    this.#note = note;
    this.plugin = new Plugin({
      key,
      state: {
        init: () => /** @type {Held[]} */ ([]),
        apply: (/** @type {any} */ tr, /** @type {Held[]} */ awaited) => moved(tr, awaited),
      },
      props: {
        decorations: (/** @type {any} */ state) => waitingIn(state),
        handleDOMEvents: {
          keydown: (/** @type {EditorView} */ view, /** @type {KeyboardEvent} */ event) => this.#key(view, event),
          paste: (/** @type {EditorView} */ view, /** @type {ClipboardEvent} */ event) => this.#paste(view, event),
          drop: (/** @type {EditorView} */ view, /** @type {DragEvent} */ event) => this.#drop(view, event),
        },
      },
    });
  }

  destroy() {
    this.#hasLeft.abort();
    for (const stop of this.#stops) stop.abort();
  }

  /** @param {EditorView} view @param {KeyboardEvent} event */
  #key(view, { key: name, shiftKey }) {
    this.#isPlain = shiftKey && name.toLowerCase() === "v";
    if (name === "Escape") for (const { stop } of key.getState(view.state)) stop.abort();
    return false;
  }

  /** @param {EditorView} view @param {ClipboardEvent} event */
  #paste(view, event) {
    event.preventDefault();
    const { clipboardData: data } = event;
    const wantsPlain = this.#isPlain;
    this.#isPlain = false;
    if (!view.editable || !data) return true;
    const { from, to } = view.state.selection;
    this.#bring(view, data, { from, to }, wantsPlain);
    return true;
  }

  /** @param {EditorView} view @param {DragEvent} event */
  #drop(view, event) {
    // The editor itself moves parts of its text.
    if (/** @type {any} */ (view).dragging || !event.dataTransfer || !view.editable) return false;
    event.preventDefault();
    const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? view.state.selection.to;
    const place = TextSelection.near(view.state.doc.resolve(at)).from;
    this.#bring(view, event.dataTransfer, { from: place, to: place }, false);
    return true;
  }

  /** @param {EditorView} view @param {DataTransfer} data @param {{from: number, to: number}} place @param {boolean} wantsPlain */
  #bring(view, data, place, wantsPlain) {
    const files = [...data.files];
    const text = wholeText(data.getData("text/plain"));
    // Text together with a picture of it, as from a spreadsheet, is pasted as text.
    if (files.length > 0 && !text) return this.take(view, files, place.to);
    const html = wantsPlain ? "" : data.getData("text/html");
    const address = text.trim();
    if (!wantsPlain && /^(?:https?:\/\/|mailto:)\S+$/i.test(address) && addressOf(address) !== undefined) {
      const tr = linkTo(address)(view.state.apply(view.state.tr.setSelection(TextSelection.create(view.state.doc, place.from, place.to))));
      if (tr && place.from === view.state.selection.from && place.to === view.state.selection.to) {
        const here = linkTo(address)(view.state);
        if (here) this.#dispatch(view, here);
        return;
      }
    }
    const isInCode = kindOf(view.state.doc.resolve(place.from).parent.attrs.set ?? none) === "code";
    if (!html || isInCode || html.length > htmlMax) {
      if (html.length > htmlMax) toast(t("paste.tooLarge"));
      this.#put(view, place, this.#inKind(view, place, plainSlice(text), isInCode));
      return;
    }
    void this.#convert(view, html, text, place);
  }

  /** @param {EditorView} view @param {{from: number}} place @param {Slice} slice @param {boolean} isInCode @returns {Slice} */
  #inKind(view, { from }, slice, isInCode) {
    if (!isInCode) return slice;
    const { set } = view.state.doc.resolve(from).parent.attrs;
    /** @type {Node[]} */
    const lines = [];
    slice.content.forEach((line) => lines.push(lineType.create({ set }, line.content)));
    return new Slice(Fragment.fromArray(lines), 1, 1);
  }

  /** @param {EditorView} view @param {string} html @param {string} text @param {{from: number, to: number}} place */
  async #convert(view, html, text, place) {
    const awaited = this.#await(view, place, "");
    let isSaid = false;
    const timer = setTimeout(() => {
      isSaid = true;
      toast(t("paste.working"), { label: t("paste.asText"), run: () => awaited.stop.abort() });
    }, saidAfter);
    /** @type {Slice | undefined} */
    let slice;
    try {
      const { convert } = await import("./pasted.js");
      slice = sliceOf(await convert(html, text, awaited.stop.signal));
    } catch (error) {
      console.warn(error);
    } finally {
      clearTimeout(timer);
      if (isSaid) hideToast();
    }
    if (this.#hasLeft.signal.aborted || view.isDestroyed) return;
    const now = this.#forget(view, awaited.id) ?? { from: view.state.selection.from, to: view.state.selection.from };
    if (view.editable) this.#put(view, now, slice ?? plainSlice(text));
  }

  /**
   * Puts content in place of a range. A first line that has a kind stays a line of its own, unless the line here is empty.
   *
   * @param {EditorView} view
   * @param {{from: number, to: number}} place
   * @param {Slice} slice
   */
  #put(view, { from, to }, slice) {
    this.#dispatch(view, insertion(view.state, from, to, slice));
  }

  /** @param {EditorView} view @param {import("../prosemirror.js").Transaction} transaction One step of the history. */
  #dispatch(view, transaction) {
    this.#note.endStep();
    view.dispatch(transaction.scrollIntoView());
    this.#note.endStep();
  }

  /** @param {EditorView} view @param {{from: number, to: number}} place @param {string} name @returns {Held} */
  #await(view, { from, to }, name) {
    const awaited = { id: (this.#last += 1), from, to, name, stop: new AbortController() };
    this.#stops.add(awaited.stop);
    view.dispatch(view.state.tr.setMeta(key, { add: awaited }));
    return awaited;
  }

  /** @param {EditorView} view @param {number} id @returns {Held | undefined} Where the content goes now. */
  #forget(view, id) {
    readCaret(view);
    const place = key.getState(view.state).find((/** @type {Held} */ one) => one.id === id);
    view.dispatch(view.state.tr.setMeta(key, { remove: id }));
    return place;
  }

  /** @param {EditorView} view @param {File[]} files @param {number} place Uploads files, and puts them there. */
  take(view, files, place) {
    if (!view.editable) return toast(t("note.readOnlyHint"));
    const waiting = files.map((file) => ({ file, awaited: this.#await(view, { from: place, to: place }, file.name) }));
    void this.#upload(view, waiting);
  }

  /** @param {EditorView} view @param {{file: File, awaited: Held}[]} waiting */
  async #upload(view, waiting) {
    for (const { file, awaited } of waiting) {
      try {
        const { path, picture } = await upload(this.#note.documentId, file, this.#hasLeft.signal);
        if (this.#hasLeft.signal.aborted) return;
        const from = this.#forget(view, awaited.id)?.from ?? view.state.selection.from;
        if (!view.editable) throw new Error(t("note.readOnlyHint"));
        const value = path.replace(/^files\//, "");
        const node = embedType.create({
          embed: setOf([[picture ? "image" : "file", value]]),
          set: picture ? setOf([["alt", file.name.replace(/\.[^.]*$/, "")]]) : none,
        });
        this.#dispatch(view, picture ? pictureAt(view.state, from, node) : view.state.tr.insert(from, [node, schema.text(" ")]));
      } catch (error) {
        if (this.#hasLeft.signal.aborted) return;
        console.warn(error);
        this.#forget(view, awaited.id);
        toast(t("file.failed", { name: file.name, reason: reasonOf(error) }));
      }
    }
  }
}

/** @param {any} tr @param {Held[]} awaited @returns {Held[]} */
function moved(tr, awaited) {
  const told = tr.getMeta(key);
  let next = awaited;
  if (tr.docChanged && awaited.length > 0) {
    next = awaited.map((one) => {
      const from = tr.mapping.map(one.from, one.from === one.to ? -1 : 1);
      return { ...one, from, to: Math.max(from, tr.mapping.map(one.to, -1)) };
    });
  }
  if (told?.add) next = [...next, told.add];
  if (told?.remove) next = next.filter(({ id }) => id !== told.remove);
  return next;
}

/** @param {any} state @returns {DecorationSet | null} The marks of files that are being uploaded. */
function waitingIn(state) {
  const named = /** @type {Held[]} */ (key.getState(state)).filter(({ name }) => name);
  if (named.length === 0) return null;
  return DecorationSet.create(state.doc, named.map(({ from, name, id }) => Decoration.widget(from, () => {
    const element = document.createElement("span");
    element.className = "uploading";
    element.setAttribute("role", "status");
    element.textContent = t("file.uploading", { name });
    return element;
  }, { side: 1, key: `upload-${id}` })));
}

/**
 * Returns the transaction that puts a picture on a line of its own.
 *
 * @param {import("../prosemirror.js").EditorState} state
 * @param {number} from
 * @param {Node} node
 */
function pictureAt(state, from, node) {
  const { tr } = state;
  const $from = tr.doc.resolve(from);
  let at = from;
  if ($from.parentOffset > 0) {
    tr.split(at, 1, [{ type: lineType }]);
    at += 2;
  }
  const isLast = tr.doc.resolve(at).parentOffset === tr.doc.resolve(at).parent.content.size;
  tr.insert(at, node);
  if (!isLast || tr.doc.resolve(at).index(0) === tr.doc.childCount - 1) tr.split(at + 1, 1, [{ type: lineType }]);
  return tr.setSelection(TextSelection.near(tr.doc.resolve(Math.min(at + 3, tr.doc.content.size - 1)), -1));
}

/**
 * Returns the transaction that puts content in place of a range.
 *
 * @param {import("../prosemirror.js").EditorState} state
 * @param {number} from
 * @param {number} to
 * @param {Slice} slice Lines, open at both ends.
 */
export function insertion(state, from, to, slice) {
  const { tr, doc } = state;
  const [$from, $to] = [doc.resolve(from), doc.resolve(to)];
  const first = slice.content.childCount > 0 ? slice.content.child(0) : undefined;
  const isWhole = $from.depth > 0 && $from.parentOffset === 0 && $to.depth > 0 && $to.parentOffset === $to.parent.content.size;
  const hasKind = first !== undefined && first.attrs.set.block !== undefined && slice.content.childCount > 1;
  if ($from.depth === 0 || !first || (!isWhole && !hasKind)) {
    tr.replace(from, to, slice);
    return tr.setSelection(TextSelection.near(tr.doc.resolve(tr.mapping.map(to, 1)), -1));
  }
  if (isWhole) {
    const lines = slice.content;
    const only = slice.content.childCount === 1 && first.attrs.set.block === undefined;
    // One line of text takes the kind of the line that it replaces.
    if (only) return tr.replace(from, to, slice);
    tr.replaceWith($from.before(1), $to.after(1), lines);
    return tr.setSelection(TextSelection.near(tr.doc.resolve(tr.mapping.map(to, 1)), -1));
  }
  // The lines go between the two parts of the line here.
  tr.delete(from, to).split(from, 1);
  tr.insert(from + 1, slice.content);
  if (tr.doc.resolve(from).parent.content.size === 0) tr.delete($from.before(1), $from.before(1) + 2);
  return tr.setSelection(TextSelection.near(tr.doc.resolve(tr.mapping.map(to, 1)), -1));
}

/** @param {import("../state/shownnote.js").ShownNote} note */
export const broughtContent = (note) => new Brought(note);
