// The editor of a formatted note as the other parts of the page use an editor: by places in the text. They use the same
// few members of CodeMirror's view for Markdown notes.

import { AllSelection, TextSelection } from "../prosemirror.js";
import { embedSign } from "./schema.js";
import { textOfDocument, toDocument, toText } from "./document.js";

/** @typedef {import("../prosemirror.js").EditorView} EditorView */

export class TextSurface {
  /** The element that scrolls. */
  scrollDOM;
  contentDOM;

  /** The element around it, for menus at places of the text. */
  frame;

  /** @param {EditorView} editor @param {HTMLElement} scroller @param {HTMLElement} frame */
  constructor(editor, scroller, frame) {
    this.editor = editor;
    this.frame = frame;
    this.scrollDOM = scroller;
    this.contentDOM = editor.dom;
  }

  get hasFocus() {
    return this.editor.hasFocus();
  }

  get state() {
    const { doc, selection } = this.editor.state;
    const isReadOnly = !this.editor.editable;
    const [anchor, head] =
      selection instanceof AllSelection ? [0, lengthOf(doc)] : [toText(doc, selection.anchor), toText(doc, selection.head)];
    return {
      doc: {
        length: lengthOf(doc),
        toString: () => textOfDocument(doc),
        /** @param {number} from @param {number} to */
        sliceString: (from, to) => doc.textBetween(toDocument(doc, from), toDocument(doc, to), "\n", embedSign),
      },
      selection: { main: { anchor, head, from: Math.min(anchor, head), to: Math.max(anchor, head), empty: anchor === head } },
      readOnly: isReadOnly,
    };
  }

  /** @param {number} place In the text. @param {number} [side] */
  coordsAtPos(place, side) {
    try {
      return this.editor.coordsAtPos(toDocument(this.editor.state.doc, place), side);
    } catch {
      // The element may not be drawn yet.
      return null;
    }
  }

  /** @param {{selection?: {anchor: number, head?: number}, scrollIntoView?: boolean}} change */
  dispatch({ selection, scrollIntoView }) {
    const { tr, doc } = this.editor.state;
    if (selection) {
      const anchor = toDocument(doc, selection.anchor);
      tr.setSelection(TextSelection.create(doc, anchor, selection.head === undefined ? anchor : toDocument(doc, selection.head)));
    }
    this.editor.dispatch(scrollIntoView ? tr.scrollIntoView() : tr);
  }

  focus() {
    this.editor.focus();
  }
}

/** @param {import("../prosemirror.js").Node} doc @returns {number} The length of its text. */
const lengthOf = (doc) => doc.content.size - 2 * doc.childCount + (doc.childCount - 1);
