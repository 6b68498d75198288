// What the page shows now. Its parts draw themselves; events for several parts are emitted here.

import { Emitter } from "./emitter.js";

/**
 * went: the address is another one. access: who this person is to the server, or why they have no access.
 * me: how others see this person. notes: the state of notes in the list. renewed: the note that is shown
 * has to be opened again. drawn: signs of Markdown are drawn from now on, or no longer.
 *
 * @extends {Emitter<{went: void, access: void, me: void, notes: void, renewed: void, drawn: void}>}
 */
class Page extends Emitter {
  /** @type {import("./notes/shownnote.js").ShownNote | undefined} */
  current;
  /** @type {ReturnType<typeof import("./editing/editor.js").createEditor> | undefined} */
  editor;
  /** @type {ReturnType<typeof import("./history/historyview.js").openHistory> | undefined} */
  past;
  /** @type {import("./notes/newnote.js").NewNote | undefined} Is shown, and the server has yet to make it. */
  newNote;

  /** @type {{id: string, title: string} | undefined} A title that is being written, and not sent yet. */
  typedTitle;

  /** Of what is shown: where words for it go. */
  get place() {
    return this.current?.documentId ?? this.newNote?.place;
  }
}

export const page = new Page();
