// What the page shows now. Its parts draw themselves; what concerns several of them is told here.

import { Emitter } from "./emitter.js";

/**
 * went: the address is another one. access: who this person is to the server, or what stands in their
 * way. me: how others see this person. notes: how notes in the list stand.
 *
 * @extends {Emitter<{went: void, access: void, me: void, notes: void}>}
 */
class Page extends Emitter {
  /** @type {import("./note.js").Note | undefined} */
  current;
  /** @type {ReturnType<typeof import("./editor.js").createEditor> | undefined} */
  editor;
  /** @type {ReturnType<typeof import("./historyview.js").openHistory> | undefined} */
  past;
  /** Whether the note is shown that the server has yet to make. */
  isNewShown = false;
}

export const page = new Page();
