// Texts of comments that the server does not have yet. They are in the tab's drawer, so that they outlive the page. A
// request whose outcome is unknown is stored with them: sent again with its key, it creates one comment.

/**
 * @typedef {{text: string, body: object, key: string}} Sent
 * @typedef {{text: string, sent?: Sent}} Unsent
 * @typedef {Pick<import("../state/drawer.js").Drawer, "get" | "set" | "remove">} DrawerOfComments
 */

/** The prefix of the names of these texts in the drawer. */
const prefix = "comment.";
/** @type {Map<string, Unsent>} Texts that do not fit in the storage; they last as long as the page. */
const unkept = new Map();

export class UnsentComments {
  #drawer;
  #start;

  /**
   * @param {DrawerOfComments} drawer
   * @param {string} note
   */
  constructor(drawer, note) {
    this.#drawer = drawer;
    this.#start = `${prefix}${encodeURIComponent(note)}/`;
  }

  /**
   * @param {string} thread The thread of an answer; "" for a new thread.
   * @returns {Unsent | undefined}
   */
  get(thread) {
    const name = this.#start + thread;
    const kept = unkept.get(name) ?? this.#drawer.get(name);
    return typeof kept?.text === "string" ? kept : undefined;
  }

  /**
   * @param {string} thread
   * @param {Unsent | undefined} words Undefined once the text is sent or discarded.
   */
  keep(thread, words) {
    const name = this.#start + thread;
    unkept.delete(name);
    if (!words) this.#drawer.remove(name);
    else if (!this.#drawer.set(name, words)) unkept.set(name, words);
  }
}
