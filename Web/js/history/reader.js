// A text of the past: CodeMirror without editing, every author's words in the author's colour.
// Like the editor it draws only what is in view, so that a long text costs no more than a short one.

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
import { perLineDirection } from "../editing/direction.js";
import { highlighter } from "../editing/highlighter.js";
import { t } from "../shell/language.js";
import { markdownInText } from "../editing/markdown.js";
import { TopLine } from "../editing/topline.js";
import { withoutCharacters } from "../shell/shortcuts.js";

/**
 * @typedef {import("./history.js").PastText} PastText
 */

/** What takes a part of the changes back, behind the part. */
class RestoreButton extends WidgetType {
  #index;
  #restore;

  /** @param {number} index Of the part. @param {(index: number) => void} restore */
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

/**
 * @param {object} options
 * @param {HTMLElement} options.host Becomes the shadow host; may be used again afterwards.
 * @param {CSSStyleSheet[]} options.sheets
 * @param {(before: string, after: string) => {from: number, to: number, insert: string}[]} options.editsBetween
 */
export function createReader({ host, sheets, editsBetween }) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const authorSheet = new CSSStyleSheet();
  root.adoptedStyleSheets = [...sheets, authorSheet];
  /** @type {Map<string, number>} */
  const numbers = new Map();

  /** @type {TopLine | undefined} */
  let topLine;
  const view = new EditorView({
    state: EditorState.create({
      doc: "",
      extensions: [
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
        EditorView.updateListener.of((update) => topLine?.follow(update)),
      ],
    }),
    parent: root,
    root,
  });
  topLine = new TopLine(view);

  /** @param {string} author */
  const numberOf = (author) => {
    let number = numbers.get(author);
    if (number === undefined) numbers.set(author, (number = numbers.size));
    return number;
  };

  /**
   * @param {string} author
   * @param {(author: string) => string} nameOf
   * @param {string} [tagName]
   */
  const writtenBy = (author, nameOf, tagName) =>
    Decoration.mark({
      tagName,
      class: `author author-${numberOf(author)}`,
      attributes: { title: nameOf(author) },
    });

  /**
   * @param {string} text
   * @param {any} marks
   * @param {boolean} isFollowed Whether what differs comes into view; otherwise the first visible line stays where it is.
   */
  function display(text, marks, isFollowed) {
    const changes = editsBetween(view.state.doc.toString(), text);
    const isFirst = view.state.doc.length === 0;
    const effects = [authored.of(marks)];
    const last = changes[changes.length - 1];
    if (!isFollowed) topLine?.hold();
    // Where nothing was shown before, the text's beginning is.
    else if (last && !isFirst) {
      const moved = changes.reduce((sum, { from, to, insert }) => sum + insert.length - (to - from), 0);
      const place = Math.min(Math.max(0, last.to + moved), text.length);
      effects.push(EditorView.scrollIntoView(place, { y: "nearest", yMargin: 60 }));
    }
    view.dispatch({ changes, effects, filter: false });
  }

  return {
    view,

    /** @param {Map<string, string>} colors Of all authors there are. */
    paint(colors) {
      const rules = [...colors].map(
        ([author, color]) => `.author-${numberOf(author)} { --author: ${color}; }`,
      );
      authorSheet.replaceSync(rules.join("\n"));
    },

    /**
     * @param {PastText} past @param {(author: string) => string} nameOf
     * @param {boolean} isFollowed Whether what differs from what was shown comes into view.
     */
    show({ text, runs }, nameOf, isFollowed) {
      const builder = new RangeSetBuilder();
      for (const { author, from, to } of runs) builder.add(from, to, writtenBy(author, nameOf));
      display(text, builder.finish(), isFollowed);
    },

    /**
     * Shows two moments as one text: deleted words are struck through, inserted ones have their author's colour.
     *
     * @param {import("./comparison.js").Comparison} comparison
     * @param {(author: string) => string} nameOf
     * @param {((index: number) => void) | undefined} restore What takes a part back, where that is allowed.
     */
    showChanges({ text, marks, hunks }, nameOf, restore) {
      /** @type {any[]} */
      const ranges = [];
      for (const { author, from, to } of marks) {
        // A button at the end of a line is not a part of what was changed.
        let end = to;
        while (end > from && text[end - 1] === "\n") end -= 1;
        if (end > from) ranges.push((author === undefined ? deleted : writtenBy(author, nameOf, "ins")).range(from, end));
      }
      for (const [index, { to }] of hunks.entries()) {
        if (!restore) break;
        // At the end of the line, which is not behind a line break that was changed with it.
        const end = text.indexOf("\n", text[to - 1] === "\n" ? to - 1 : to);
        const place = end < 0 ? text.length : end;
        ranges.push(Decoration.widget({ widget: new RestoreButton(index, restore), side: 1 }).range(place));
      }
      display(text, Decoration.set(ranges, true), false);
    },

    /** @param {{from: number, to: number}} part Brings it into view. */
    reveal({ from, to }) {
      const effects = EditorView.scrollIntoView(from, { y: "center" });
      view.dispatch({ selection: { anchor: Math.min(from, to) }, effects });
    },

    destroy() {
      topLine?.destroy();
      view.destroy();
    },
  };
}
