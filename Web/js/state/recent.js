// The notes that a person has recently opened, in this browser.

import { Emitter } from "../ground/emitter.js";

const prefix = "parley.recent.";

/** @extends {Emitter<{changed: void}>} */
export class Recent extends Emitter {
  /** Notes that are remembered. */
  static countMax = 20;

  #storage;
  #owner;

  /**
   * @param {object} dependencies
   * @param {Pick<Storage, "getItem" | "setItem">} dependencies.storage
   * @param {() => string} dependencies.owner Who this is.
   */
  constructor({ storage, owner }) {
    super();
    this.#storage = storage;
    this.#owner = owner;
  }

  /** The latest first. @returns {string[]} */
  get ids() {
    try {
      const kept = JSON.parse(this.#storage.getItem(prefix + this.#owner()) ?? "[]");
      return Array.isArray(kept) ? kept.filter((id) => typeof id === "string").slice(0, Recent.countMax) : [];
    } catch {
      return [];
    }
  }

  /** @param {string} id Was opened now. */
  open(id) {
    const before = this.ids;
    if (before[0] === id) return;
    const ids = [id, ...before.filter((one) => one !== id)].slice(0, Recent.countMax);
    try {
      this.#storage.setItem(prefix + this.#owner(), JSON.stringify(ids));
    } catch {
      // The storage has no room.
    }
    this.emit("changed", undefined);
  }

  /**
   * Returns the recently opened notes among some, the latest first.
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
