// Pinned notes, which are first in the list. They are stored in this browser for each user, and are not synchronised.

import { Emitter } from "../ground/emitter.js";

const prefix = "parley.pins.";

/** @extends {Emitter<{changed: void}>} */
export class Pins extends Emitter {
  /** Maximum number of pinned notes; another pin removes the oldest. */
  static countMax = 100;

  #storage;
  #owner;
  /** @type {string[]} The pinned notes, oldest first. Differs from the storage if a write failed. */
  #ids = [];
  /** @type {string | undefined} The owner of `#ids`. */
  #read;

  /**
   * @param {object} dependencies
   * @param {Pick<Storage, "getItem" | "setItem">} dependencies.storage
   * @param {() => string} dependencies.owner The current user.
   * @param {Pick<EventTarget, "addEventListener">} [dependencies.window] Its `storage` events report changes by other
   * tabs.
   */
  constructor({ storage, owner, window }) {
    super();
    this.#storage = storage;
    this.#owner = owner;
    window?.addEventListener("storage", (event) => {
      const { key } = /** @type {StorageEvent} */ (event);
      // Without a key, the whole storage was cleared.
      if (key !== null && key !== prefix + this.#owner()) return;
      this.#read = undefined;
      this.emit("changed", undefined);
    });
  }

  /** @returns {readonly string[]} */
  get #all() {
    const owner = this.#owner();
    if (this.#read !== owner) {
      this.#ids = this.#kept(owner);
      this.#read = owner;
    }
    return this.#ids;
  }

  /** @param {string} owner @returns {string[]} */
  #kept(owner) {
    try {
      const kept = JSON.parse(this.#storage.getItem(prefix + owner) ?? "[]");
      if (!Array.isArray(kept)) return [];
      return kept.filter((id) => typeof id === "string").slice(-Pins.countMax);
    } catch {
      return [];
    }
  }

  /** @param {string} id */
  has(id) {
    return this.#all.includes(id);
  }

  /**
   * Pins a note, or removes its pin.
   *
   * @param {string} id
   */
  toggle(id) {
    const others = this.#all.filter((one) => one !== id);
    this.#ids = this.has(id) ? others : [...others, id].slice(-Pins.countMax);
    try {
      this.#storage.setItem(prefix + this.#owner(), JSON.stringify(this.#ids));
    } catch {
      // The pins are lost on reload, on a change of the user, and on a change in another tab.
    }
    this.emit("changed", undefined);
  }

  /**
   * Returns the notes with the pinned ones first, each group in the order of the list.
   *
   * @template {{id: string}} Note
   * @param {readonly Note[]} notes
   * @returns {Note[]}
   */
  sorted(notes) {
    const pinned = new Set(this.#all);
    if (pinned.size === 0) return [...notes];
    return [...notes.filter(({ id }) => pinned.has(id)), ...notes.filter(({ id }) => !pinned.has(id))];
  }
}
