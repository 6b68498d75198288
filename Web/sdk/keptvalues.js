// Own changes of values in the browser's storage, where they outlive the page, with the identity under which they are
// sent: under one identity and key the gateway stores a change once.

import { hold, randomId } from "../js/client/identity.js";
import { lastingStore } from "../js/ground/storage.js";

/**
 * @typedef {{id: string, resumeToken: string}} Identity
 * @typedef {{operations: import("./replica.js").Operation[], ifOffsets: {[name: string]: number}, key: string,
 *   client?: string, time?: number}} KeptChange `client` and `time`: under which identity, and when, it was first sent.
 */

/** The changes of one page to one room. */
export class KeptValues {
  #prefix;
  #owner;
  #key = "";
  /** @type {() => void} */
  #end = () => {};
  /** @type {Promise<void>} */
  #ended = new Promise((resolve) => (this.#end = resolve));

  /** @param {string} url @param {string} room @param {string} owner The user; "" if not signed in. */
  constructor(url, room, owner) {
    this.#prefix = `parley.values|${encodeURIComponent(url)}|${encodeURIComponent(room)}|`;
    this.#owner = owner;
  }

  /**
   * Returns the changes that closed pages have left, and the identity under which some were sent. Changes of a second
   * page that were sent under another identity wait for the next visit.
   *
   * @returns {Promise<{identity?: Identity, changes: KeptChange[]}>}
   */
  async claim() {
    /** @type {{identity?: Identity, changes: KeptChange[]} | undefined} */
    let claimed;
    for (const key of this.#keys()) {
      /** @type {() => void} */
      let release = () => {};
      const released = Promise.race([this.#ended, new Promise((resolve) => (release = () => resolve(undefined)))]);
      if (!(await hold(key, false, /** @type {Promise<void>} */ (released)))) continue;
      const record = this.#read(key);
      if (record && !claimed) {
        claimed = record;
        this.#key = key;
        continue;
      }
      if (record && claimed) {
        claimed.changes.push(...record.changes.filter(({ client }) => !client));
        this.#write(this.#key, claimed.identity, claimed.changes);
        this.#write(key, record.identity, record.changes.filter(({ client }) => client));
      }
      release();
    }
    if (claimed) return claimed;
    this.#key = this.#prefix + randomId();
    await hold(this.#key, true, this.#ended);
    return { changes: [] };
  }

  /**
   * Stores the changes that have no answer. Without any, nothing is stored.
   *
   * @param {Identity} identity
   * @param {KeptChange[]} changes
   */
  save(identity, changes) {
    if (this.#key) this.#write(this.#key, identity.id ? identity : undefined, changes);
  }

  /** Lets another page have them. */
  close() {
    this.#end();
  }

  #keys() {
    const store = lastingStore();
    return Array.from({ length: store.length }, (_, index) => store.key(index) ?? "").filter((key) => key.startsWith(this.#prefix));
  }

  /** @param {string} key @returns {{identity?: Identity, changes: KeptChange[]} | undefined} */
  #read(key) {
    try {
      const record = JSON.parse(lastingStore().getItem(key) ?? "");
      return record.owner === this.#owner && Array.isArray(record.changes) ? record : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {string} key @param {Identity | undefined} identity @param {KeptChange[]} changes */
  #write(key, identity, changes) {
    try {
      if (changes.length === 0) lastingStore().removeItem(key);
      else lastingStore().setItem(key, JSON.stringify({ owner: this.#owner, identity, changes }));
    } catch {
      // If the storage is full, the newest changes last as long as the page.
    }
  }
}

/** Whether changes can outlive this page: without locks, a closed page cannot be distinguished from a suspended one. */
export const canKeep = () => Boolean(globalThis.navigator?.locks);
