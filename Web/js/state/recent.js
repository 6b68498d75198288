// The notes that a user has recently opened in this browser.

import { Emitter } from "../ground/emitter.js";

const prefix = "parley.recent.";

/** @extends {Emitter<{changed: void}>} */
export class Recent extends Emitter {
  /** Maximum number of notes that are stored. */
  static countMax = 20;

  #storage;
  #owner;

  /**
   * @param {object} dependencies
   * @param {Pick<Storage, "getItem" | "setItem">} dependencies.storage
   * @param {() => string} dependencies.owner The current user.
   */
  constructor({ storage, owner }) {
    super();
    this.#storage = storage;
    this.#owner = owner;
  }

  /**
   * Latest first.
   *
   * @returns {string[]}
   */
  get ids() {
    try {
      const kept = JSON.parse(this.#storage.getItem(prefix + this.#owner()) ?? "[]");
      return Array.isArray(kept) ? kept.filter((id) => typeof id === "string").slice(0, Recent.countMax) : [];
    } catch {
      return [];
    }
  }

  /** @param {string} id The note that was opened. */
  open(id) {
    const before = this.ids;
    if (before[0] === id) return;
    const ids = [id, ...before.filter((one) => one !== id)].slice(0, Recent.countMax);
    try {
      this.#storage.setItem(prefix + this.#owner(), JSON.stringify(ids));
    } catch {
      // The storage is full.
    }
    this.emit("changed", undefined);
  }

  /**
   * Returns the recently opened notes among `notes`, latest first.
   *
   * @template {{id: string}} Note
   * @param {readonly Note[]} notes
   * @returns {Note[]}
   */
  of(notes) {
    const places = new Map(this.ids.map((id, index) => [id, index]));
    return notes
      .filter(({ id }) => places.has(id))
      .sort((one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0));
  }
}
