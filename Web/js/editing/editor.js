// The editor of a note's text: CodeMirror, bound to the note.
//
// It is in a shadow root, where CodeMirror's styles are constructed style sheets, so the page's content-security policy
// needs neither inline styles nor a nonce.

import {
  Annotation,
  EditorSelection,
  EditorState,
  EditorView,
  Prec,
  Transaction,
  bracketMatching,
  defaultKeymap,
  dropCursor,
  ensureSyntaxTree,
  highlightSpecialChars,
  history,
  historyKeymap,
  indentOnInput,
  isolateHistory,
  keymap,
  placeholder,
  searchKeymap,
  syntaxHighlighting,
  syntaxTree,
  Compartment,
} from "../codemirror.js";
import { drawnSelection } from "./blink.js";
import { contentInsertion } from "./brought.js";
import { placeBefore } from "../client/changes.js";
import { commentMarks } from "./commentmarks.js";
import { ComposedLine, listOf, viewOfCodeMirror } from "./composedline.js";
import { byId } from "../ground/dialogs.js";
import { differenceBetween } from "../ground/difference.js";
import { perLineDirection } from "./direction.js";
import { commandKeymap, commandsOf } from "./editorcommands.js";
import { rangeOf } from "./foundplace.js";
import { endsInHalf } from "../ground/halves.js";
import { highlighter } from "../markdown/highlighter.js";
import { applied, wholeText } from "../ground/lineends.js";
import { t } from "../ground/language.js";
import { endList } from "./listend.js";
import { liveText } from "./livetext.js";
import { markdownInText } from "../markdown/markdown.js";
import { PeerCarets } from "./peercarets.js";
import { withoutCharacters } from "../ground/shortcuts.js";
import { TopLine } from "./topline.js";
import { wellFormed } from "../ground/wellformed.js";
import { writingHelp } from "./writinghelp.js";

/**
 * @typedef {import("../state/shownnote.js").ShownNote} Note
 * @typedef {import("../client/door.js").TextChange} TextChange
 */

/**
 * The editor's events about comments: ranges moved or became doubtful, one was clicked, the selection changed.
 *
 * @typedef {{moved: () => void, doubtful: () => void, clicked: (id: string) => void, selected: () => void}} CommentListener
 */

/** Marks transactions with changes from the server. */
const fromServer = Annotation.define();
const startsPair = (/** @type {number} */ unit) => unit >= 0xd800 && unit < 0xdc00;
const endsPair = (/** @type {number} */ unit) => unit >= 0xdc00 && unit < 0xe000;
/**
 * Widens edits to whole Unicode scalars. Replacing 😀 by 😁 may arrive as "replace the second half of a surrogate pair",
 * because both emoji have the same first half: such an edit is widened to the pair. If a first half is typed alone, it
 * is inserted before the second half, which is the next input.
 */
const wholeScalars = () => {
  let half = "";
  return EditorState.transactionFilter.of((transaction) => {
    if (!transaction.docChanged || transaction.annotation(fromServer)) return transaction;
    const former = half;
    half = "";
    const text = transaction.startState.doc;
    const unitAt = (/** @type {number} */ position) =>
      position < text.length ? text.sliceString(position, position + 1).charCodeAt(0) : 0;
    const splits = (/** @type {number} */ position) =>
      position > 0 && endsPair(unitAt(position)) && startsPair(unitAt(position - 1));

    let isSound = true;
    /** @type {TextChange[]} */
    const widened = [];
    transaction.changes.iterChanges((from, to, _fromAfter, _toAfter, inserted) => {
      let insert = inserted.toString();
      if (splits(from)) {
        isSound = false;
        from -= 1;
        insert = text.sliceString(from, from + 1) + insert;
      }
      if (splits(to)) {
        isSound = false;
        insert += text.sliceString(to, to + 1);
        to += 1;
      }
      if (former && endsPair(insert.charCodeAt(0))) insert = former + insert;
      if (endsInHalf(insert)) {
        half = insert.slice(-1);
        insert = insert.slice(0, -1);
      }
      const sound = wellFormed(insert);
      if (sound !== inserted.toString()) isSound = false;
      widened.push({ from, to, insert: sound });
    }, true);
    if (isSound) return transaction;

    const [first] = widened;
    const last = widened[widened.length - 1];
    if (!first || !last) return transaction;
    // If widened neighbours overlap in one pair, a single edit replaces all of them.
    const collides = widened.some((change, index) => {
      const next = widened[index + 1];
      return next !== undefined && next.from < change.to;
    });
    const after = transaction.newDoc;
    const lastAfter = after.length - (text.length - last.to);
    const whole = wellFormed(after.sliceString(first.from, lastAfter));
    const changes = collides ? [{ from: first.from, to: last.to, insert: whole }] : widened;
    const end = last.to + changes.reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), 0);
    return {
      changes,
      selection: EditorSelection.cursor(end),
      scrollIntoView: true,
      userEvent: transaction.annotation(Transaction.userEvent),
    };
  });
};

/**
 * Whether own edits, or others' edits next to the caret, may have changed the position of the selection in the text.
 * The editor and the note move it in the same way for all other changes.
 *
 * @param {import("../codemirror.js").ViewUpdate} update
 */
function isTouched({ changes, transactions }) {
  const main = transactions[0]?.startState.selection.main;
  const isOwn = transactions.some((one) => one.docChanged && !one.annotation(fromServer));
  return isOwn || !main || changes.touchesRange(main.from, main.to) !== false;
}

/** The keys for find and replace that the editor binds. The others remain the browser's or the page's. */
const searchKeys = new Set(["Mod-f", "F3", "Mod-g", "Mod-d", "Mod-Shift-l", "Escape"]);
const searchPanelKeymap = searchKeymap.filter(
  ({ key = "", scope }) => searchKeys.has(key) && scope?.includes("editor search-panel"),
);

/** The maximum time for which Enter waits until the text before it is parsed as Markdown, in milliseconds. */
const parseWithin = 150;

/**
 * Parses up to the caret, because Enter and Backspace depend on the Markdown of the line: a list gets another item, a
 * quote ends. The parser works in small slices between events. On a busy machine it may not have reached the caret yet,
 * and Enter would end the list.
 *
 * @param {EditorView} view
 */
function parseUpToCaret(view) {
  const { state } = view;
  const tree = ensureSyntaxTree(state, state.selection.main.head, parseWithin);
  if (tree && tree !== syntaxTree(state)) view.dispatch({});
  return false;
}

/** Translations of the editor's own English texts. */
const phrases = {
  "Find": t("find.find"),
  "Replace": t("find.replaceWith"),
  "next": t("find.next"),
  "previous": t("find.previous"),
  "all": t("find.all"),
  "match case": t("find.matchCase"),
  "by word": t("find.byWord"),
  "regexp": t("find.regexp"),
  "replace": t("find.replace"),
  "replace all": t("find.replaceAll"),
  "close": t("find.close"),
  "current match": t("find.currentMatch"),
  "on line": t("find.onLine"),
  "replaced $ matches": t("find.replacedAll"),
  "replaced match on line $": t("find.replacedOne"),
  "Control character": t("find.controlCharacter"),
  "Selection deleted": t("find.selectionDeleted"),
};

/** Annotations of changes that are not this person's. */
const fromElsewhere = [Transaction.addToHistory.of(false), Transaction.remote.of(true)];

/**
 * Extensions for a note that may be edited, or only read.
 *
 * @param {Note} note
 */
const editable = (note) => [
  EditorState.readOnly.of(!note.isWritable),
  EditorView.editable.of(note.isWritable),
  // A read-only text can still get the focus, for scrolling and selecting by keyboard.
  EditorView.contentAttributes.of({ tabindex: "0", ...(!note.isWritable && { "aria-readonly": "true" }) }),
];

/**
 * Extensions for lines, keys and highlighting, ordered by precedence.
 *
 * @param {Note} note
 */
const textExtensions = (note) => [
  // The editor shows "\n" at each line end; pasted and dropped text is converted to it.
  EditorState.lineSeparator.of("\n"),
  EditorView.clipboardInputFilter.of(wholeText),
  EditorState.tabSize.of(4),
  EditorState.phrases.of(phrases),
  EditorView.lineWrapping,
  perLineDirection,
  highlightSpecialChars(),
  history(),
  drawnSelection,
  dropCursor(),
  indentOnInput(),
  bracketMatching(),
  Prec.low(syntaxHighlighting(highlighter)),
  placeholder(t("note.placeholder")),
  Prec.highest(keymap.of(["Enter", "Backspace"].map((key) => ({ key, run: parseUpToCaret })))),
  Prec.highest(keymap.of([{ key: "Enter", run: endList }])),
  markdownInText(),
  liveText,
  writingHelp(note),
  keymap.of(withoutCharacters([...commandKeymap, ...searchPanelKeymap, ...historyKeymap, ...defaultKeymap])),
];

const labels = () => EditorView.contentAttributes.of({
  "aria-label": t("note.text"),
  spellcheck: "true",
  autocorrect: "on",
  autocapitalize: "sentences",
});

/** The editor of one note. */
class Editor {
  /** The commands of the toolbar. */
  commands;
  kind = /** @type {const} */ ("plain");
  #note;
  #root;
  #readOnly = new Compartment();
  #peers;
  #brought;
  #extensions;
  /** @type {ComposedLine | undefined} */
  #composed;
  /** @type {TopLine | undefined} */
  #topLine;
  /** @type {CommentListener | undefined} */
  #listener;
  /** The annotations of the next changes. */
  #annotations = fromElsewhere;
  #subscriptions;

  /**
   * @param {object} options
   * @param {HTMLElement} options.host Becomes the shadow host, and can be reused afterwards.
   * @param {Note} options.note
   * @param {CSSStyleSheet[]} options.sheets
   */
  constructor({ host, note, sheets }) {
    this.#note = note;
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#peers = new PeerCarets(note, (place) => this.positionInView(place));
    this.#root.adoptedStyleSheets = [...sheets, this.#peers.sheet];
    this.#brought = contentInsertion(note);
    this.comments = commentMarks({
      moved: () => this.#listener?.moved(),
      doubtful: () => this.#listener?.doubtful(),
      waiting: () => this.#waitingChanges(),
    });
    this.#extensions = this.#allExtensions();
    this.view = new EditorView({ state: this.#stateWith(note.text ?? ""), parent: this.#root, root: this.#root });
    this.#peers.drawIn(this.view);
    this.#topLine = new TopLine(this.view);
    this.#composed = new ComposedLine(viewOfCodeMirror(this.view, (changes) => this.#makeChanges(changes)));
    this.#subscriptions = this.#followNote();
    this.commands = commandsOf(this.view, () => byId("file").click());
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
    this.view.dispatch({
      changes: { from: 0, insert: text },
      selection: { anchor, head },
      userEvent: "input.type",
      scrollIntoView: true,
    });
  }

  focus() {
    this.view.focus();
  }

  /**
   * Selects text that the search has found, near its former position.
   *
   * @param {import("./foundplace.js").Place} place
   */
  show(place) {
    const { from, to } = rangeOf(place, this.view.state.doc.toString(), this.#note.ends);
    this.view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
    this.focus();
  }

  /**
   * Moves the caret to a position of the note's text, and scrolls it to the top.
   *
   * @param {number} inNote
   */
  showAt(inNote) {
    const place = Math.min(this.positionInView(inNote), this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: place }, effects: EditorView.scrollIntoView(place, { y: "start", yMargin: 24 }) });
    this.focus();
  }

  /** @param {number} place A position in the note's text. @returns The same position in the shown text. */
  positionInView(place) {
    return placeBefore(place, this.#composed?.waiting ?? []);
  }

  /**
   * Applies an edit of the note's text on behalf of this person.
   *
   * @param {TextChange} edit
   * @returns Whether it was applied; false if the view does not show its position yet.
   */
  make({ from, to, insert }) {
    const [start, end] = [this.positionInView(from), this.positionInView(to)];
    if (end - start !== to - from || this.view.state.readOnly) return false;
    this.view.dispatch({ changes: { from: start, to: end, insert }, userEvent: "input" });
    return true;
  }

  /**
   * Inserts files at the caret.
   *
   * @param {File[]} files
   */
  addFiles(files) {
    this.#brought.take(this.view, files, this.view.state.selection.main.to);
  }

  destroy() {
    this.#peers.destroy();
    this.#composed?.destroy();
    this.#topLine?.destroy();
    this.#brought.destroy();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.view.destroy();
  }

  #allExtensions() {
    return [
      this.#brought.extension,
      this.comments.extension,
      EditorView.domEventHandlers({ click: (event) => this.#clickComment(event) }),
      textExtensions(this.#note),
      this.#readOnly.of(editable(this.#note)),
      labels(),
      this.#peers.extension,
      wholeScalars(),
      EditorView.updateListener.of((update) => this.#follow(update)),
    ];
  }

  /** @param {string} text */
  #stateWith(text) {
    return EditorState.create({ doc: text, extensions: this.#extensions });
  }

  /** @param {MouseEvent} event */
  #clickComment({ target }) {
    const mark = target instanceof Element ? target.closest("[data-comment]") : null;
    const id = mark instanceof HTMLElement ? mark.dataset.comment : undefined;
    if (id) this.#listener?.clicked(id);
    return false;
  }

  /**
   * Forwards edits and selections of the view to the note.
   *
   * @param {import("../codemirror.js").ViewUpdate} update
   */
  #follow(update) {
    const composed = this.#composed;
    this.#topLine?.follow(update);
    for (const transaction of update.transactions) {
      if (!transaction.docChanged || transaction.annotation(fromServer)) continue;
      const changes = listOf(transaction.changes);
      this.#note.edit(composed?.follow(changes) ?? changes);
    }
    // What is beside the selection moves with it, if pictures are loaded above it, too.
    if (update.selectionSet || update.geometryChanged) this.#listener?.selected();
    if (!update.docChanged && !update.selectionSet) return;
    if (update.selectionSet || isTouched(update)) {
      const { anchor, head } = update.state.selection.main;
      this.#note.select(composed?.inNote(anchor) ?? anchor, composed?.inNote(head) ?? head);
    }
  }

  /**
   * Subscribes to the note.
   *
   * @returns Functions that unsubscribe.
   */
  #followNote() {
    const note = this.#note;
    const peers = this.#peers;
    return [
      note.on("reset", ({ text }) => this.#showWhole(text)),
      note.on("changes", ({ changes, isOwn }) => this.#showChanges(changes, isOwn)),
      note.on("peers", () => peers.renew()),
      note.on("shownEdit", ({ changes }) => peers.carry(changes)),
      note.on("people", () => peers.renew()),
      note.on("status", () => {
        if (this.view.state.readOnly === note.isWritable) {
          this.view.dispatch({ effects: this.#readOnly.reconfigure(editable(note)) });
        }
      }),
    ];
  }

  /** @param {string} text The note's text. */
  #showWhole(text) {
    this.comments.reset();
    this.#peers.renew();
    // As a change, so that the caret and the undo history remain valid.
    const change = differenceBetween(applied(this.view.state.doc.toString(), this.#composed?.waiting ?? []), text);
    if (change) this.#take([change]);
  }

  /**
   * @param {TextChange[]} changes Changes of the note's text.
   * @param {boolean | undefined} isOwn Whether this person requested them.
   */
  #showChanges(changes, isOwn) {
    this.#peers.carry(changes);
    try {
      this.#take(changes, isOwn ? [isolateHistory.of("full")] : undefined);
    } catch (error) {
      // The editor's text differs from the session's: replace it.
      console.warn(error);
      this.comments.reset();
      this.#composed?.reset();
      this.view.setState(this.#stateWith(this.#note.text ?? ""));
      this.#listener?.doubtful();
    }
  }

  /** @param {TextChange[]} changes From the server. @param {any[]} [annotations] If this person requested them. */
  #take(changes, annotations = fromElsewhere) {
    this.#annotations = annotations;
    try {
      this.#composed?.take(changes);
    } finally {
      this.#annotations = fromElsewhere;
    }
  }

  /** @param {TextChange[]} changes Changes of the shown text. */
  #makeChanges(changes) {
    this.#topLine?.hold();
    this.view.dispatch({ changes, annotations: [fromServer.of(true), ...this.#annotations], filter: false });
  }

  #waitingChanges() {
    const waiting = this.#composed?.waiting ?? [];
    return waiting.length > 0 ? this.view.state.changes(waiting) : undefined;
  }
}

/** @param {ConstructorParameters<typeof Editor>[0]} options */
export const createEditor = (options) => new Editor(options);
