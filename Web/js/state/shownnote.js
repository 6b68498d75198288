// A note for the page: its text, and all positions in it, with "\n" for each line end. A formatted note is shown as it is:
// its editor draws other line ends as characters of their own.

import { Note } from "../client/note.js";
import { applied, lineEndsOf, shownOf } from "../ground/lineends.js";
import { inOwnColors } from "./people.js";

/**
 * @typedef {import("../client/note.js").NoteEvents} NoteEvents
 * @typedef {import("../client/door.js").TextChange} TextChange
 */

export class ShownNote extends Note {
  /** @type {import("../ground/lineends.js").LineEnds | undefined} Set for a note that contains "\r". */
  #ends;
  /** Whether a "\r" was inserted into a note that contained none. */
  #isStale = false;

  /** @param {ConstructorParameters<typeof Note>[0]} options */
  constructor(options) {
    super(options);
    this.#ends = this.kind === "rich" ? undefined : lineEndsOf(super.text ?? "");
  }

  /** The line ends of the note's own text; undefined if the shown text is the same. */
  get ends() {
    return this.#ends;
  }

  /** @override */
  get text() {
    const text = super.text;
    return text === undefined || this.kind === "rich" ? text : shownOf(text);
  }

  /** The note's own text. */
  get ownText() {
    return super.text ?? "";
  }

  /**
   * Edits the note's own text, whose line ends may differ from those of the shown text.
   *
   * @param {TextChange[]} changes
   * @param {import("../client/note.js").ChangeFormat} [format]
   */
  editOwn(changes, format) {
    super.edit(changes, format);
    this.#ends = this.kind === "rich" ? undefined : lineEndsOf(super.text ?? "");
  }

  /** @override */
  get people() {
    return inOwnColors(super.people);
  }

  /** @override */
  get peerSelections() {
    const ends = this.#ends;
    const selections = super.peerSelections;
    if (!ends) return selections;
    return selections.map((one) => ({ ...one, anchor: ends.toShown(one.anchor), head: ends.toShown(one.head) }));
  }

  /** @override @param {TextChange[]} changes @param {import("../client/note.js").ChangeFormat} [format] */
  edit(changes, format) {
    this.#renew();
    const own = this.#ends?.note(changes) ?? changes;
    if (this.hasText) this.#follow(own);
    super.edit(own, format);
    super.emit("shownEdit", { changes });
  }

  /** @override @param {number} anchor @param {number} head */
  select(anchor, head) {
    super.select(this.#ends?.toNote(anchor) ?? anchor, this.#ends?.toNote(head) ?? head);
  }

  /**
   * @override
   * @template {keyof NoteEvents} Name
   * @param {Name} name
   * @param {NoteEvents[Name]} detail
   */
  emit(name, detail) {
    // The constructor of Note may emit before the fields of this class are set.
    if (!(#ends in this) || (name !== "reset" && name !== "changes")) return super.emit(name, detail);
    if (this.kind === "rich") {
      this.#isStale = false;
      this.#ends = undefined;
      return super.emit(name, detail);
    }
    if (name === "reset") {
      const { text } = /** @type {NoteEvents["reset"]} */ (detail);
      this.#isStale = false;
      this.#ends = lineEndsOf(text);
      return super.emit("reset", { text: shownOf(text) });
    }
    const { changes, isOwn } = /** @type {NoteEvents["changes"]} */ (detail);
    if (this.#isStale) return;
    if (!this.#ends && changes.some(({ insert }) => insert.includes("\r"))) {
      // The core may be ahead of the pending events, so the text is read after the last of them.
      this.#isStale = true;
      queueMicrotask(() => this.#renew());
      return;
    }
    const shown = this.#ends?.shown(changes) ?? changes;
    this.#follow(changes);
    if (shown.length > 0) super.emit("changes", { changes: shown, isOwn });
  }

  #renew() {
    if (!this.#isStale || !this.hasText) return;
    this.emit("reset", { text: super.text ?? "" });
  }

  /** @param {TextChange[]} changes Changes of the note's text. */
  #follow(changes) {
    if (this.#ends) this.#ends = lineEndsOf(applied(this.#ends.text, changes));
  }
}
