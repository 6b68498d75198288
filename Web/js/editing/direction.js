// Each line of a text is laid out in the direction that its first letter asks for: Hebrew and Arabic from
// right to left. A line without letters has the page's.

import { Decoration, EditorView, RangeSetBuilder, ViewPlugin } from "../codemirror.js";
import { isRight } from "../ground/language.js";

const auto = Decoration.line({ attributes: { dir: "auto" } });
const fromTheRight = Decoration.line({ attributes: { dir: "rtl" } });

/** @param {string} text Of a line. */
const directionOf = (text) => (isRight && !/\p{L}/u.test(text) ? fromTheRight : auto);

/** @param {EditorView} view @returns {any} Decorations of the lines in view. */
function directions(view) {
  const builder = new RangeSetBuilder();
  const { doc } = view.state;
  let last = -1;
  for (const { from, to } of view.visibleRanges) {
    for (let line = doc.lineAt(from); ; line = doc.lineAt(line.to + 1)) {
      // Two ranges may meet in one long line.
      if (line.from > last) builder.add(line.from, line.from, directionOf(line.text));
      last = line.from;
      if (line.to >= to || line.to >= doc.length) break;
    }
  }
  return builder.finish();
}

/** For the editor, and for texts of the past. */
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
