// Uploads of files that are pasted, dropped, or chosen for a text. Pictures get a separate line.
//
// During an upload, a mark shows the file's future position. The mark is not in the text: it moves with all edits,
// other users do not see it, and it disappears if the upload fails.

import { Decoration, EditorView, StateEffect, StateField, WidgetType } from "../../codemirror.js";
import { putPicture } from "./insertion.js";
import { toast } from "../../ground/dialogs.js";
import { t } from "../../ground/language.js";
import { reasonOf, upload } from "../../links/uploading.js";

/** @typedef {{id: number, place: number, name: string}} Mark */

const began = StateEffect.define();
/** The upload of a mark has ended; the later files of the same group move to `end`. */
const ended = StateEffect.define();
let lastId = 0;

class WaitingWidget extends WidgetType {
  /** @param {string} name */
  constructor(name) {
    super();
    this.name = name;
  }

  /** @param {WaitingWidget} other */
  eq(other) {
    return other.name === this.name;
  }

  toDOM() {
    const element = document.createElement("span");
    element.className = "uploading";
    element.setAttribute("role", "status");
    element.textContent = t("file.uploading", { name: this.name });
    return element;
  }
}

const marks = StateField.define({
  create: () => /** @type {Mark[]} */ ([]),
  update(known, transaction) {
    let next = known;
    if (transaction.docChanged && known.length > 0) {
      // Text typed at the mark goes after it; files remain in the order in which they were added.
      const done = transaction.effects.find((effect) => effect.is(ended))?.value;
      next = known.map((mark) => ({
        ...mark,
        place: done?.later.includes(mark.id) ? done.end : transaction.changes.mapPos(mark.place, -1),
      }));
    }
    for (const effect of transaction.effects) {
      if (effect.is(began)) next = [...next, effect.value];
      else if (effect.is(ended)) next = next.filter(({ id }) => id !== effect.value.id);
    }
    return next;
  },
  provide: (field) =>
    EditorView.decorations.from(field, (/** @type {Mark[]} */ known) =>
      Decoration.set(
        known.map(({ place, name }) => Decoration.widget({ widget: new WaitingWidget(name), side: 1 }).range(place)),
        true,
      ),
    ),
});

/** @param {{path: string, name: string, picture: boolean}} file The file, as the server has stored it. */
export function referenceTo({ path, name, picture }) {
  const shown = picture ? name.replace(/\.[^.]*$/, "") || name : name;
  return `${picture ? "!" : ""}[${shown.replace(/[\\[\]`*_<>&!~^]/g, "\\$&")}](${path})`;
}

/**
 * Returns the insertion of a file into a text.
 *
 * @param {EditorView} view
 * @param {{path: string, name: string, picture: boolean}} file
 * @param {number} from
 * @param {{isFirst: boolean, isOnly: boolean}} order The position among files added together; each gets a line.
 */
function insertionOf(view, file, from, { isFirst, isOnly }) {
  const reference = referenceTo(file);
  if (file.picture) return putPicture(view.state, from, reference);
  const before = view.state.doc.sliceString(Math.max(0, from - 1), from);
  const insert = `${before && !/\s/.test(before) ? (isFirst ? " " : "\n") : ""}${reference}${isOnly ? "" : "\n"}`;
  return { changes: { from, to: from, insert }, selection: { anchor: from + insert.length } };
}

/**
 * @param {import("../../client/note.js").Note} note
 * @param {EditorView} view
 */
export function uploadsInto(note, view) {
  const leaving = new AbortController();

  /** @param {File[]} files @param {number} place */
  async function add(files, place) {
    const waiting = files.map((file) => ({ file, mark: { id: (lastId += 1), place, name: file.name } }));
    const isKnown = view.state.field(marks, false) !== undefined;
    if (!isKnown) view.dispatch({ effects: StateEffect.appendConfig.of(marks) });
    view.dispatch({ effects: waiting.map(({ mark }) => began.of(mark)) });
    for (const [index, { file, mark }] of waiting.entries()) {
      const later = waiting.slice(index + 1).map((one) => one.mark.id);
      try {
        const kept = await upload(note.documentId, file, leaving.signal);
        if (leaving.signal.aborted) return;
        const known = view.state.field(marks, false)?.find((/** @type {Mark} */ { id }) => id === mark.id);
        // The mark was lost if the whole text was replaced.
        const from = known?.place ?? view.state.selection.main.head;
        if (view.state.readOnly) throw new Error(t("note.readOnlyHint"));
        const insertion = insertionOf(view, kept, from, { isFirst: index === 0, isOnly: files.length === 1 });
        const { main } = view.state.selection;
        const isHere = main.empty && main.head === from;
        view.dispatch({
          changes: insertion.changes,
          selection: isHere ? insertion.selection : undefined,
          effects: ended.of({ id: mark.id, later, end: insertion.selection.anchor }),
          userEvent: "input.paste",
        });
      } catch (error) {
        if (leaving.signal.aborted) return;
        console.warn(error);
        view.dispatch({ effects: ended.of({ id: mark.id, later: [], end: 0 }) });
        toast(t("file.failed", { name: file.name, reason: reasonOf(error) }));
      }
    }
  }

  return {
    /** @param {File[]} files @param {number} place */
    add: (files, place) => void add(files, place),
    /** Stops uploads, because the editor is removed. */
    destroy() {
      const isBusy = (view.state.field(marks, false)?.length ?? 0) > 0;
      leaving.abort();
      if (isBusy) toast(t("file.stopped"));
    },
  };
}
