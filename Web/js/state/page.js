// The state of the page. Its parts draw themselves; events for several parts are emitted here.

import { Emitter } from "../ground/emitter.js";

/**
 * went: the address has changed. access: the user's identity or access has changed. me: the user's name or colour has
 * changed. notes: the state of notes in the list has changed. renewed: the shown note must be opened again. drawn: the
 * drawing of Markdown marks was switched on or off. kind: the shown note has another kind, or is to be shown as another.
 * sought: a passage is to be shown once its note is open.
 *
 * @extends {Emitter<{went: void, access: void, me: void, notes: void, renewed: void, drawn: void, kind: void, sought: {id: string, place: import("../editing/foundplace.js").Place}}>}
 */
class Page extends Emitter {
  /** @type {import("./shownnote.js").ShownNote | undefined} */
  current;
  /** @type {ReturnType<typeof import("../editing/editor.js").createEditor> | import("../formatted/editor.js").FormattedEditor | undefined} */
  editor;
  /** @type {ReturnType<typeof import("../history/historyview.js").openHistory> | undefined} */
  past;
  /** @type {import("./newnote.js").NewNote | undefined} The new note that is shown, until the server has created it. */
  newNote;

  /** @type {{id: string, title: string} | undefined} A title that is being typed, and is not sent yet. */
  typedTitle;

  /** The id of the shown note, or of the shown new note. */
  get place() {
    return this.current?.documentId ?? this.newNote?.place;
  }

  /** Moves the focus into the text if nothing is focused and no on-screen keyboard would open. */
  focusIdle() {
    if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) this.editor?.focus();
  }
}

export const page = new Page();
