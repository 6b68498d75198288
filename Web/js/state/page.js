// What the page shows now. Its parts draw themselves; events for several parts are emitted here.

import { Emitter } from "../ground/emitter.js";

/**
 * went: the address is another one. access: who this person is to the server, or why they have no access.
 * me: how others see this person. notes: the state of notes in the list. renewed: the note that is shown
 * has to be opened again. drawn: signs of Markdown are drawn from now on, or no longer. sought: a place in a note is to be
 * shown once the note is open.
 *
 * @extends {Emitter<{went: void, access: void, me: void, notes: void, renewed: void, drawn: void, sought: {id: string, place: import("../editing/foundplace.js").Place}}>}
 */
class Page extends Emitter {
  /** @type {import("./shownnote.js").ShownNote | undefined} */
  current;
  /** @type {ReturnType<typeof import("../editing/editor.js").createEditor> | undefined} */
  editor;
  /** @type {ReturnType<typeof import("../history/historyview.js").openHistory> | undefined} */
  past;
  /** @type {import("./newnote.js").NewNote | undefined} Is shown, and the server has yet to make it. */
  newNote;

  /** @type {{id: string, title: string} | undefined} A title that is being written, and not sent yet. */
  typedTitle;

  /** Of what is shown: where words for it go. */
  get place() {
    return this.current?.documentId ?? this.newNote?.place;
  }

  /** Moves the focus into the text where nothing is focused, and no keyboard would come up on the screen. */
  focusIdle() {
    if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) this.editor?.focus();
  }
}

export const page = new Page();
