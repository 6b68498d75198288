// The direction of each line of a text, which follows from its first letter: Hebrew and Arabic from right to left. A
// line without letters has the page's direction.

import { Decoration, EditorView, RangeSetBuilder, ViewPlugin } from "../codemirror.js";
import { isRight } from "../ground/language.js";

const auto = Decoration.line({ attributes: { dir: "auto" } });
const fromTheRight = Decoration.line({ attributes: { dir: "rtl" } });

/** @param {string} text The text of a line. */
const directionOf = (text) => (isRight && !/\p{L}/u.test(text) ? fromTheRight : auto);

/** @param {EditorView} view @returns {any} The decorations of the visible lines. */
function directions(view) {
  const builder = new RangeSetBuilder();
  const { doc } = view.state;
  let last = -1;
  for (const { from, to } of view.visibleRanges) {
    for (let line = doc.lineAt(from); ; line = doc.lineAt(line.to + 1)) {
      // Two visible ranges may be in one long line.
      if (line.from > last) builder.add(line.from, line.from, directionOf(line.text));
      last = line.from;
      if (line.to >= to || line.to >= doc.length) break;
    }
  }
  return builder.finish();
}

/** The extension for the editor and for past texts. */
export const perLineDirection = [
  EditorView.perLineTextDirection.of(true),
  ViewPlugin.fromClass(
    class {
      /** @param {EditorView} view */
      constructor(view) {
        this.decorations = directions(view);
      }

      /** @param {import("../codemirror.js").ViewUpdate} update */
      update(update) {
        if (update.docChanged || update.viewportChanged) this.decorations = directions(update.view);
      }
    },
    { decorations: (/** @type {any} */ plugin) => plugin.decorations },
  ),
];
