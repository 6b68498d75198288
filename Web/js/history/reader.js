// A text of the past: CodeMirror without editing, every author's words in the author's colour.
// Like the editor it draws only what is in view, so that a long text costs no more than a short one.

import {
  Decoration,
  EditorState,
  EditorView,
  RangeSetBuilder,
  StateEffect,
  StateField,
  defaultKeymap,
  drawSelection,
  highlightSpecialChars,
  keymap,
  syntaxHighlighting,
} from "../codemirror.js";
import { perLineDirection } from "../editing/direction.js";
import { highlighter } from "../editing/highlighter.js";
import { difference } from "./history.js";
import { t } from "../shell/language.js";
import { markdownInText } from "../editing/markdown.js";
import { withoutCharacters } from "../shell/shortcuts.js";

/**
 * @typedef {import("./history.js").PastText} PastText
 */

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

/**
 * @param {object} options
 * @param {HTMLElement} options.host Becomes the shadow host; may be used again afterwards.
 * @param {CSSStyleSheet[]} options.sheets
 */
export function createReader({ host, sheets }) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const authorSheet = new CSSStyleSheet();
  root.adoptedStyleSheets = [...sheets, authorSheet];
  /** @type {Map<string, number>} */
  const numbers = new Map();

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
      ],
    }),
    parent: root,
    root,
  });

  /** @param {string} author */
  const numberOf = (author) => {
    let number = numbers.get(author);
    if (number === undefined) numbers.set(author, (number = numbers.size));
    return number;
  };

  return {
    view,

    /** @param {Map<string, string>} colors Of all authors there are. */
    paint(colors) {
      const rules = [...colors].map(
        ([author, color]) => `.author-${numberOf(author)} { --author: ${color}; }`,
      );
      authorSheet.replaceSync(rules.join("\n"));
    },

    /** @param {PastText} past @param {(author: string) => string} nameOf */
    show({ text, runs }, nameOf) {
      const builder = new RangeSetBuilder();
      for (const { author, from, to } of runs) {
        builder.add(
          from,
          to,
          Decoration.mark({
            class: `author author-${numberOf(author)}`,
            attributes: { title: nameOf(author) },
          }),
        );
      }
      const changes = difference(view.state.doc.toString(), text);
      const isFirst = view.state.doc.length === 0;
      const effects = [authored.of(builder.finish())];
      // What differs comes into view; where nothing was shown before, the text's beginning does.
      if (changes && !isFirst) {
        const place = Math.min(changes.from + changes.insert.length, text.length);
        effects.push(EditorView.scrollIntoView(place, { y: "nearest", yMargin: 60 }));
      }
      view.dispatch({ changes, effects, filter: false });
    },

    destroy() {
      view.destroy();
    },
  };
}
