// The view of a past text: CodeMirror without editing, with each author's text in the author's colour. Like the editor
// it draws only the visible part, so a long text costs no more than a short one.

import {
  Decoration,
  EditorState,
  EditorView,
  RangeSetBuilder,
  StateEffect,
  StateField,
  WidgetType,
  defaultKeymap,
  drawSelection,
  highlightSpecialChars,
  keymap,
  syntaxHighlighting,
} from "../codemirror.js";
import { perLineDirection } from "./direction.js";
import { highlighter } from "../markdown/highlighter.js";
import { t } from "../ground/language.js";
import { markdownInText } from "../markdown/markdown.js";
import { TopLine } from "./topline.js";
import { withoutCharacters } from "../ground/shortcuts.js";

/**
 * @typedef {import("../history/history.js").PastText} PastText
 */

/** The button after a changed part that reverts the part. */
class RestoreButton extends WidgetType {
  #index;
  #restore;

  /** @param {number} index The part's index. @param {(index: number) => void} restore */
  constructor(index, restore) {
    super();
    this.#index = index;
    this.#restore = restore;
  }

  /** @param {RestoreButton} other */
  eq(other) {
    return other.#index === this.#index;
  }

  toDOM() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "restore-part";
    button.textContent = t("history.restorePart");
    button.addEventListener("click", () => this.#restore(this.#index));
    return button;
  }

  ignoreEvent() {
    return true;
  }
}

/** The authors' runs have changed. */
const authored = StateEffect.define();

/** @type {any} */
const authorship = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) if (effect.is(authored)) return effect.value;
    return marks.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const deleted = Decoration.mark({ tagName: "del", class: "deleted" });

/** @param {(update: import("../codemirror.js").ViewUpdate) => void} follow */
const extensions = (follow) => [
  EditorState.lineSeparator.of("\n"),
  EditorState.tabSize.of(4),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.lineWrapping,
  perLineDirection,
  EditorView.contentAttributes.of({
    "aria-label": t("history.textLabel"),
    "aria-readonly": "true",
    tabindex: "0",
  }),
  highlightSpecialChars(),
  drawSelection(),
  syntaxHighlighting(highlighter),
  keymap.of(withoutCharacters(defaultKeymap)),
  markdownInText(),
  authorship,
  EditorView.updateListener.of(follow),
];

/**
 * Returns the position of the button that restores a part.
 *
 * @param {string} text
 * @param {number} end The end of the part.
 */
function placeOfButton(text, end) {
  // At the end of the line. If the part ends with a line break, before that line break.
  const place = text.indexOf("\n", text[end - 1] === "\n" ? end - 1 : end);
  return place < 0 ? text.length : place;
}

/** The view of a past text. */
class Reader {
  #editsBetween;
  #authorSheet = new CSSStyleSheet();
  /** @type {Map<string, number>} A number for each author, for class names. */
  #numbers = new Map();
  /** @type {TopLine | undefined} */
  #topLine;

  /**
   * @param {object} options
   * @param {HTMLElement} options.host Becomes the shadow host, and can be reused afterwards.
   * @param {CSSStyleSheet[]} options.sheets
   * @param {(before: string, after: string) => {from: number, to: number, insert: string}[]} options.editsBetween
   */
  constructor({ host, sheets, editsBetween }) {
    this.#editsBetween = editsBetween;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [...sheets, this.#authorSheet];
    this.view = new EditorView({
      state: EditorState.create({ doc: "", extensions: extensions((update) => this.#topLine?.follow(update)) }),
      parent: root,
      root,
    });
    this.#topLine = new TopLine(this.view);
  }

  /** @param {Map<string, string>} colors The colours of all authors. */
  paint(colors) {
    const rules = [...colors].map(
      ([author, color]) => `.author-${this.#numberOf(author)} { --author: ${color}; }`,
    );
    this.#authorSheet.replaceSync(rules.join("\n"));
  }

  /**
   * @param {PastText} past @param {(author: string) => string} nameOf
   * @param {boolean} isFollowed Whether to scroll to the difference from the shown text.
   */
  show({ text, runs }, nameOf, isFollowed) {
    const builder = new RangeSetBuilder();
    for (const { author, from, to } of runs) builder.add(from, to, this.#writtenBy(author, nameOf));
    this.#display(text, builder.finish(), isFollowed);
  }

  /**
   * Shows two versions as one text: deleted words are struck through, inserted ones have their author's colour.
   *
   * @param {import("../history/comparison.js").Comparison} comparison
   * @param {(author: string) => string} nameOf
   * @param {((index: number) => void) | undefined} restore Reverts a part; undefined if this is not allowed.
   */
  showChanges({ text, marks, hunks }, nameOf, restore) {
    /** @type {any[]} */
    const ranges = [];
    for (const { author, from, to } of marks) {
      // A button at the end of a line does not belong to the change.
      let end = to;
      while (end > from && text[end - 1] === "\n") end -= 1;
      if (end > from) ranges.push((author === undefined ? deleted : this.#writtenBy(author, nameOf, "ins")).range(from, end));
    }
    for (const [index, { to }] of hunks.entries()) {
      if (!restore) break;
      const button = Decoration.widget({ widget: new RestoreButton(index, restore), side: 1 });
      ranges.push(button.range(placeOfButton(text, to)));
    }
    this.#display(text, Decoration.set(ranges, true), false);
  }

  /**
   * Scrolls to a part.
   *
   * @param {{from: number, to: number}} part
   */
  reveal({ from, to }) {
    const effects = EditorView.scrollIntoView(from, { y: "center" });
    this.view.dispatch({ selection: { anchor: Math.min(from, to) }, effects });
  }

  destroy() {
    this.#topLine?.destroy();
    this.view.destroy();
  }

  /** @param {string} author */
  #numberOf(author) {
    let number = this.#numbers.get(author);
    if (number === undefined) this.#numbers.set(author, (number = this.#numbers.size));
    return number;
  }

  /**
   * @param {string} author
   * @param {(author: string) => string} nameOf
   * @param {string} [tagName]
   */
  #writtenBy(author, nameOf, tagName) {
    return Decoration.mark({
      tagName,
      class: `author author-${this.#numberOf(author)}`,
      attributes: { title: nameOf(author) },
    });
  }

  /**
   * @param {string} text
   * @param {any} marks
   * @param {boolean} isFollowed Whether to scroll to the last difference; if not, the first visible line stays.
   */
  #display(text, marks, isFollowed) {
    const { doc } = this.view.state;
    const changes = this.#editsBetween(doc.toString(), text);
    const effects = [authored.of(marks)];
    const last = changes[changes.length - 1];
    if (!isFollowed) this.#topLine?.hold();
    // If nothing was shown before, the text's start is visible.
    else if (last && doc.length > 0) {
      const moved = changes.reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), 0);
      const place = Math.min(Math.max(0, last.to + moved), text.length);
      effects.push(EditorView.scrollIntoView(place, { y: "nearest", yMargin: 60 }));
    }
    this.view.dispatch({ changes, effects, filter: false });
  }
}

/** @param {ConstructorParameters<typeof Reader>[0]} options */
export const createReader = (options) => new Reader(options);
