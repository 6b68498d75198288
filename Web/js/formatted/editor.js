// The editor of a formatted note: ProseMirror with a flat schema, bound to the note.
//
// The client core has the text, the attributes and the history. Each transaction of the editor becomes one change for
// it. The core reports changes by others and undo as changes. The editor is in a shadow root, as that of Markdown notes.

import { placeAfter, placeBefore } from "../client/changes.js";
import { ComposedLine } from "../editing/composedline.js";
import { rangeOf } from "../editing/foundplace.js";
import { t } from "../ground/language.js";
import { slugsOf } from "../reading/headings.js";
import { Decoration, DecorationSet, EditorState, EditorView, Plugin, TextSelection, dropCursor } from "../prosemirror.js";
import { apply } from "./applying.js";
import { broughtContent } from "./brought.js";
import { keepSelection, readCaret } from "./caret.js";
import { commandsOf } from "./commands.js";
import { commentRanges } from "./commentranges.js";
import { changeOf } from "./difference.js";
import { documentOf, textOfDocument, toDocument, toText } from "./document.js";
import { kindOf } from "./elements.js";
import { EmbedView } from "./embedview.js";
import { findingIn } from "./finding.js";
import { formatAfter, formatBefore, touches } from "./held.js";
import { tickAt } from "./linecommands.js";
import { LineView, numberItems } from "./lineview.js";
import { PageView, adoptPageStyles } from "./pageview.js";
import { Peers } from "./peers.js";
import { mentionNames } from "./mentions.js";
import { rangesOf } from "./ranges.js";
import { fragmentOf } from "./rendering.js";
import { lineType } from "./schema.js";
import { isEmpty } from "./sets.js";
import { TextSurface } from "./surface.js";
import { bindings, tabKeys, typedText } from "./typing.js";
import { writingAids } from "./writingaids.js";

/**
 * @typedef {import("../state/shownnote.js").ShownNote} Note
 * @typedef {import("../client/door.js").TextChange} TextChange
 * @typedef {import("./difference.js").Change} Change
 * @typedef {import("../prosemirror.js").Transaction} Transaction
 * @typedef {import("../editing/editor.js").CommentListener} CommentListener
 */

/** Marks transactions with changes of the note that were not made in this editor. */
const fromNote = "fromNote";
/** The delay after which items get their places for screen readers, in milliseconds. */
const numberAfter = 400;
/** The number of lines from which those out of sight are not laid out. */
const manyLines = 1_500;

/** The last line has no newline, and so no kind: if it gets one, it gets a line below it. */
const lastLine = new Plugin({
  appendTransaction(/** @type {readonly Transaction[]} */ transactions, /** @type {EditorState} */ _, /** @type {EditorState} */ state) {
    if (!transactions.some(({ docChanged }) => docChanged) || isEmpty(state.doc.lastChild?.attrs.set)) return undefined;
    return state.tr.insert(state.doc.content.size, lineType.create());
  },
});

/** Shows a hint in an empty note. */
const placeholder = new Plugin({
  props: {
    decorations(/** @type {EditorState} */ { doc }) {
      if (doc.childCount !== 1 || (doc.firstChild?.content.size ?? 0) > 0) return null;
      return DecorationSet.create(doc, [Decoration.node(0, doc.content.size, { class: "is-empty", "data-placeholder": t("formatted.placeholder") })]);
    },
  },
});

/** @param {readonly Transaction[]} transactions @returns {import("./ranges.js").Range[]} */
const touchedBy = (transactions) => rangesOf(/** @type {any} */ ({ steps: transactions.flatMap(({ steps }) => steps) }));

export class FormattedEditor {
  /** The commands of the toolbar. */
  commands;
  /** The part of an editor that the rest of the page uses. */
  view;
  kind = /** @type {const} */ ("rich");
  #note;
  #root;
  #frame = document.createElement("div");
  #scroller = document.createElement("div");
  #editor;
  #peers;
  #brought;
  #finding;
  #aids;
  /** @type {ComposedLine | undefined} */
  #composed;
  /** Whether the note has changes that the editor does not show, and that are not those of `#composed`. */
  #isBehind = false;
  /** @type {Change | undefined} The change that is being taken. */
  #arriving;
  /** @type {CommentListener | undefined} */
  #listener;
  #subscriptions;
  /** @type {any} */
  #numbering;
  #removals = new AbortController();

  /**
   * @param {object} options
   * @param {HTMLElement} options.host Becomes the shadow host, and can be reused afterwards.
   * @param {Note} options.note
   * @param {CSSStyleSheet[]} options.sheets
   */
  constructor({ host, note, sheets }) {
    this.#note = note;
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#peers = new Peers(note, () => this.#editor, (place) => this.positionInView(place));
    this.#root.adoptedStyleSheets = [...sheets, this.#peers.sheet];
    this.#scroller.className = "scroller";
    const paper = document.createElement("div");
    paper.className = "paper";
    const content = document.createElement("div");
    paper.append(this.#peers.layer, content);
    this.#scroller.append(paper);
    this.#frame.className = "frame";
    this.#frame.append(this.#scroller);
    this.#root.append(this.#frame);
    this.comments = commentRanges({
      moved: () => this.#listener?.moved(),
      doubtful: () => this.#listener?.doubtful(),
      waiting: () => this.#composed?.waiting ?? [],
    });
    this.#brought = broughtContent(note);
    this.#finding = findingIn(this.#frame);
    this.#aids = writingAids(note, () => this.commands);
    this.#editor = this.#makeEditor(content);
    this.view = new TextSurface(this.#editor, this.#scroller, this.#frame);
    this.commands = commandsOf(this.#editor, note);
    this.#composed = new ComposedLine(this.#composedView());
    this.#subscriptions = this.#followNote();
    this.#listen();
    this.#peers.begin();
    this.#aids.begin(this.#editor, this.view);
    this.#drawn();
  }

  /** @param {CommentListener | undefined} tell */
  onComments(tell) {
    this.#listener = tell;
  }

  /**
   * Inserts text that was typed before the editor was ready at the start of the note, and restores its selection.
   *
   * @param {import("../state/early.js").Words} words
   */
  put({ text, anchor, head }) {
    const { tr } = this.#editor.state;
    apply(tr, { changes: [{ from: 0, to: 0, insert: text.replace(/\r\n?/g, "\n") }] });
    tr.setSelection(TextSelection.create(tr.doc, toDocument(tr.doc, anchor), toDocument(tr.doc, head)));
    this.#editor.dispatch(tr.scrollIntoView());
  }

  focus() {
    this.#editor.focus();
  }

  /**
   * Selects text that the search has found, near its former position.
   *
   * @param {import("../editing/foundplace.js").Place} place
   */
  show(place) {
    const { from, to } = rangeOf(place, textOfDocument(this.#editor.state.doc));
    this.view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    this.focus();
  }

  /** @param {number} inNote A place in the note's text, which gets the caret. */
  showAt(inNote) {
    this.view.dispatch({ selection: { anchor: Math.min(this.positionInView(inNote), this.view.state.doc.length) }, scrollIntoView: true });
    this.focus();
  }

  /** @param {number} place A place in the note's text. @returns The same place in the shown text. */
  positionInView(place) {
    return placeBefore(place, this.#composed?.waiting ?? []);
  }

  /** @param {TextChange} edit Of the note's text, made for this person. @returns Whether it was applied. */
  make({ from, to, insert }) {
    const [start, end] = [this.positionInView(from), this.positionInView(to)];
    if (end - start !== to - from || !this.#editor.editable) return false;
    readCaret(this.#editor);
    const { tr } = this.#editor.state;
    apply(tr, { changes: [{ from: start, to: end, insert }] });
    this.#editor.dispatch(tr);
    return true;
  }

  /** @param {File[]} files Inserted at the caret. */
  addFiles(files) {
    this.#brought.take(this.#editor, files, this.#editor.state.selection.to);
  }

  /** @param {string} slug A heading's name in addresses. @returns {boolean} Whether it is there; it gets the caret. */
  showHeading(slug) {
    const { doc } = this.#editor.state;
    /** @type {{words: string, pos: number}[]} */
    const headings = [];
    doc.forEach((line, pos) => {
      if (/^h[1-6]$/.test(kindOf(line.attrs.set))) headings.push({ words: line.textContent, pos: pos + 1 });
    });
    const found = headings[slugsOf(headings.map(({ words }) => words)).indexOf(slug)];
    if (found) this.showAt(toText(doc, found.pos));
    return found !== undefined;
  }

  /** The text of the first line, if it is a heading. */
  get firstHeading() {
    const { firstChild } = this.#editor.state.doc;
    return firstChild && /^h[1-6]$/.test(kindOf(firstChild.attrs.set)) ? firstChild.textContent.slice(0, 1_000) : "";
  }

  /** @param {HTMLElement} host @returns {PageView} The note as a page, in an element. */
  pageIn(host) {
    return new PageView(host, this.#note);
  }

  /** @returns {DocumentFragment} The note as a page, for a copy that does not change. */
  asPage() {
    adoptPageStyles();
    return fragmentOf(this.document, { isPage: true });
  }

  /**
   * Draws another text of the note as a page.
   *
   * @param {string} text
   * @param {import("./document.js").DocumentFormat} format
   */
  pageOf = (text, format) => {
    adoptPageStyles();
    return fragmentOf(documentOf(text, format), { isPage: true });
  };

  /** The shown document. */
  get document() {
    return this.#editor.state.doc;
  }

  destroy() {
    clearTimeout(this.#numbering);
    this.#removals.abort();
    this.#peers.destroy();
    this.#aids.destroy();
    this.#composed?.destroy();
    this.#brought.destroy();
    this.#finding.destroy();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#editor.destroy();
    this.#frame.remove();
  }

  /** @param {HTMLElement} mount */
  #makeEditor(mount) {
    const note = this.#note;
    const history = { undo: () => note.undo(), redo: () => note.redo() };
    const state = EditorState.create({
      doc: documentOf(note.text ?? "", note.format()),
      plugins: [
        ...this.#aids.plugins, typedText(() => note.endStep()), ...bindings(history), tabKeys(), lastLine, placeholder, mentionNames(note),
        this.comments.plugin, this.#brought.plugin, this.#finding.plugin, dropCursor({ class: "drop-cursor", color: false, width: 2 }),
      ],
    });
    return new EditorView({ mount }, {
      state,
      editable: () => note.isWritable,
      attributes: () => ({
        class: "content", role: "textbox", "aria-multiline": "true", "aria-label": t("note.text"), spellcheck: "true",
        autocorrect: "on", autocapitalize: "sentences", translate: "no", tabindex: "0",
        ...(!note.isWritable && { "aria-readonly": "true" }),
      }),
      nodeViews: {
        line: (/** @type {any} */ line, /** @type {EditorView} */ view, /** @type {() => number | undefined} */ place) =>
          new LineView(line, () => this.#tick(view, place())),
        embed: (/** @type {any} */ node) => new EmbedView(node, note.documentId),
      },
      clipboardSerializer: this.#brought.serializer,
      clipboardTextSerializer: this.#brought.textOf,
      dispatchTransaction: (/** @type {Transaction} */ transaction) => this.#dispatch(transaction),
      handleDOMEvents: {
        keydown: (/** @type {EditorView} */ view) => {
          // On a busy machine, the browser reports a caret that a key has moved only after the next key.
          readCaret(view);
          return false;
        },
        click: (/** @type {EditorView} */ view, /** @type {MouseEvent} */ event) => this.#click(view, event),
        beforeinput: (/** @type {EditorView} */ _, /** @type {InputEvent} */ event) => this.#beforeInput(event),
      },
    });
  }

  /** @param {EditorView} view @param {number | undefined} pos */
  #tick(view, pos) {
    const transaction = pos === undefined || !view.editable ? undefined : tickAt(view.state, pos);
    if (transaction) view.dispatch(transaction);
  }

  /** @param {EditorView} _ @param {MouseEvent} event */
  #click(_, event) {
    const target = event.target instanceof Element ? event.target : null;
    const mark = target?.closest("[data-comment]");
    if (mark instanceof HTMLElement && mark.dataset.comment) this.#listener?.clicked(mark.dataset.comment);
    return this.#aids.click(event);
  }

  /** @param {InputEvent} event Undo and redo from menus and on-screen keyboards. */
  #beforeInput(event) {
    if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return false;
    event.preventDefault();
    if (event.inputType === "historyUndo") this.#note.undo();
    else this.#note.redo();
    return true;
  }

  // From the editor to the note.

  /** @param {Transaction} transaction */
  #dispatch(transaction) {
    const editor = this.#editor;
    const before = editor.state;
    const { state, transactions } = before.applyTransaction(transaction);
    const own = transactions.filter((one) => one.docChanged && !one.getMeta(fromNote));
    const ranges = own.length > 0 ? touchedBy(own) : [];
    if (own.length > 0 && this.comments.isDoubtful(before, ranges)) transaction.setMeta("hasReplaced", true);
    editor.updateState(state);
    if (own.length > 0) this.#edit(changeOf((own[0] ?? transaction).before, state.doc, ranges));
    for (const one of transactions) this.comments.follow(one);
    this.#tellSelection(before, state, transaction);
    if (transaction.docChanged) this.#drawn();
    if (!before.selection.eq(state.selection) || transaction.docChanged) this.#listener?.selected();
    this.#aids.update(before, state, own.length > 0);
  }

  /** @param {Change} change Of the shown text. */
  #edit({ changes, format }) {
    const composed = this.#composed;
    if (changes.length === 0 && !format) return;
    const formatInNote = formatAfter(format, composed?.waiting ?? []);
    this.#note.edit(composed?.follow(changes) ?? changes, formatInNote);
  }

  /** @param {EditorState} before @param {EditorState} state @param {Transaction} transaction */
  #tellSelection(before, state, transaction) {
    if (transaction.getMeta(fromNote) || before.selection.eq(state.selection)) return;
    // Typing after the caret was moved is another step of the history.
    if (!transaction.docChanged) this.#note.endStep();
    const [anchor, head] = [state.selection.anchor, state.selection.head].map((pos) => this.#inNote(toText(state.doc, pos)));
    this.#note.select(anchor ?? 0, head ?? 0);
  }

  /** @param {number} place In the shown text. */
  #inNote(place) {
    return this.#composed?.inNote(place) ?? place;
  }

  // From the note to the editor.

  #followNote() {
    const note = this.#note;
    const peers = this.#peers;
    return [
      note.on("reset", () => this.#settle()),
      note.on("changes", ({ changes, format, selection }) => this.#take({ changes, format }, selection)),
      note.on("peers", () => peers.renew()),
      note.on("people", () => peers.renew()),
      note.on("shownEdit", ({ changes }) => peers.carry(changes)),
      note.on("status", () => {
        if ((this.#editor.dom.getAttribute("aria-readonly") === "true") !== note.isWritable) return;
        this.#editor.setProps({});
        this.#aids.draw();
      }),
    ];
  }

  /** @param {Change} change @param {{anchor: number, head: number}} [selection] After a step of the history. */
  #take(change, selection) {
    this.#peers.carry(change.changes);
    try {
      const composed = this.#composed;
      if (!composed?.isComposing) return this.#show(change, selection);
      const { waiting } = composed;
      const { from, to } = this.#composedRange;
      if (touches(change, { from: placeAfter(from, waiting, true), to: placeAfter(to, waiting, false) })) {
        this.#isBehind = true;
        composed.take(change.changes);
        return undefined;
      }
      const format = formatBefore(change.format, waiting);
      this.#arriving = { ...change, ...(format && { format }) };
      composed.take(change.changes);
      if (change.changes.length === 0) this.#show(this.#arriving);
      this.#arriving = undefined;
    } catch (error) {
      // The editor's text differs from the note's.
      console.warn(error);
      this.#arriving = undefined;
      this.#composed?.reset();
      this.#settle();
    }
    return undefined;
  }

  get #composedRange() {
    const { doc, selection } = this.#editor.state;
    const { $head } = selection;
    const [from, to] = $head.depth > 0 ? [$head.start(), $head.end()] : [0, doc.content.size];
    return { from: toText(doc, from), to: toText(doc, to) };
  }

  /** @param {Change} change Of the shown text. @param {{anchor: number, head: number}} [selection] */
  #show(change, selection) {
    readCaret(this.#editor);
    const { state } = this.#editor;
    const { tr } = state;
    apply(tr, change);
    if (!tr.docChanged && !selection) return;
    if (selection) {
      const [anchor = 1, head = 1] = [selection.anchor, selection.head].map((place) => toDocument(tr.doc, place));
      tr.setSelection(TextSelection.create(tr.doc, anchor, head)).scrollIntoView();
    } else {
      keepSelection(tr, state);
      // What was chosen for the next letter stays chosen while others write.
      if (state.storedMarks) tr.setStoredMarks(state.storedMarks);
    }
    this.#dispatchHere(tr, !selection);
  }

  /** @param {Transaction} tr @param {boolean} keepsTop Whether the first visible line stays where it is. */
  #dispatchHere(tr, keepsTop) {
    const line = keepsTop ? this.#firstVisible() : undefined;
    this.#editor.dispatch(tr.setMeta(fromNote, true));
    if (!line?.element.isConnected) return;
    const moved = line.element.getBoundingClientRect().top - line.top;
    if (Math.abs(moved) >= 1) this.#scroller.scrollTop += moved;
  }

  /** @returns {{element: Element, top: number} | undefined} The line at the upper edge; undefined at the very top. */
  #firstVisible() {
    if (this.#scroller.scrollTop <= 0) return undefined;
    const { top, left, width } = this.#scroller.getBoundingClientRect();
    const found = this.#root.elementFromPoint(left + width / 2, top + 4)?.closest(".line");
    return found ? { element: found, top: found.getBoundingClientRect().top } : undefined;
  }

  /** Makes the editor show the note's text and attributes. */
  #settle() {
    this.#isBehind = false;
    this.comments.reset();
    this.#peers.renew();
    const { text } = this.#note;
    if (text === undefined) return;
    const { tr, doc, storedMarks } = this.#editor.state;
    apply(tr, changeOf(doc, documentOf(text, this.#note.format())));
    if (storedMarks) tr.setStoredMarks(storedMarks);
    if (tr.docChanged) this.#dispatchHere(tr, true);
    this.#listener?.doubtful();
  }

  /** @returns {import("../editing/composedline.js").ComposedView} */
  #composedView() {
    const editor = this.#editor;
    const placed = () => this.view.state.selection.main;
    return {
      element: editor.dom,
      selection: placed,
      slice: (from, to) => this.view.state.doc.sliceString(from, Math.min(to, this.view.state.doc.length)),
      lineAt: () => this.#composedRange,
      make: (changes) => {
        const arriving = this.#arriving;
        if (arriving && changes.length === arriving.changes.length) this.#show({ ...arriving, changes });
        else if (this.#composed?.isComposing) {
          this.#isBehind = true;
          this.#show({ changes });
        } else this.#settle();
      },
      focus: () => editor.focus(),
    };
  }

  #listen() {
    const { signal } = this.#removals;
    // After the one of the composed line: a change of attributes alone leaves nothing waiting there.
    const ended = () => setTimeout(() => this.#isBehind && !this.#composed?.isComposing && this.#settle());
    this.#editor.dom.addEventListener("compositionend", ended, { signal });
    this.#scroller.addEventListener("scroll", () => this.#listener?.selected(), { signal, passive: true });
  }

  // Screen readers and long texts.

  #drawn() {
    const { childCount } = this.#editor.state.doc;
    this.#editor.dom.classList.toggle("is-long", childCount >= manyLines);
    this.#peers.draw();
    this.#numbering ??= setTimeout(() => {
      this.#numbering = undefined;
      const { children } = this.#editor.dom;
      numberItems(this.#editor.state.doc, (index) => children[index]?.querySelector(":scope > .item"));
    }, numberAfter);
  }
}

/** @param {ConstructorParameters<typeof FormattedEditor>[0]} options */
export const createFormattedEditor = (options) => new FormattedEditor(options);
