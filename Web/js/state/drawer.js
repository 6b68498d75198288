// Data that a tab stores until it is on the server: new notes, and text for notes that are not open yet.
//
// It is in `localStorage`, so that it outlives the tab and the browser. Its keys contain the id of the tab, which holds
// a lock of this id. A tab that opens later adopts the data of closed tabs: it takes their locks, and leaves the data
// under its keys, so that nothing can be lost by moving it.
//
// A signed-in user's data is for the same user alone (`owner`; "" if no user was signed in).

import { hold, randomId } from "../client/identity.js";
import { lastingStore, tabStore } from "../ground/storage.js";

/** @typedef {import("../ground/storage.js").Store} Store */

const prefix = "parley.kept.";
const tabKey = "parley.tab";

/** @param {string} id */
const lockName = (id) => `parley.tab.${id}`;

export class Drawer {
  #storage;
  #owner;
  /** @type {string[]} The id of this tab, then those of adopted tabs. */
  #ids = [];
  /** @type {Map<string, string>} The tab id under which each value is stored, by the value's name. Names are unique. */
  #places = new Map();

  /**
   * @param {object} options
   * @param {Store} options.storage
   * @param {() => string} options.owner The current user.
   * @param {string} options.id The id of this tab.
   */
  constructor({ storage, owner, id }) {
    this.#storage = storage;
    this.#owner = owner;
    this.add(id);
  }

  /** @param {string} id The id of a closed tab to adopt. */
  add(id) {
    this.#ids.push(id);
    for (const { place, name } of thingsIn(this.#storage, this.#owner())) {
      if (place === id && !this.#places.has(name)) this.#places.set(name, id);
    }
  }

  /** @param {string} start @returns {string[]} The names with this prefix, without it. */
  names(start) {
    return [...this.#places.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  }

  /** @param {string} name @returns {any} */
  get(name) {
    const place = this.#places.get(name);
    return place === undefined ? undefined : read(this.#storage, keyOf(place, name))?.value;
  }

  /**
   * @param {string} name
   * @param {any} value A value for JSON.
   * @returns {boolean} False if the storage is full.
   */
  set(name, value) {
    const place = this.#places.get(name) ?? this.#ids[0] ?? "";
    try {
      this.#storage.setItem(keyOf(place, name), JSON.stringify({ owner: this.#owner(), value }));
      this.#places.set(name, place);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} name */
  remove(name) {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    try {
      this.#storage.removeItem(keyOf(place, name));
    } catch {
      // If nothing can be stored, there is nothing to remove.
    }
  }
}

/** @param {string} place @param {string} name */
const keyOf = (place, name) => `${prefix}${place}.${name}`;

/** @param {Pick<Storage, "getItem">} storage @param {string} key @returns {{owner: string, value: any} | undefined} */
function read(storage, key) {
  try {
    const { owner, value } = JSON.parse(storage.getItem(key) ?? "null");
    return typeof owner === "string" ? { owner, value } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Store} storage @param {string} owner */
function thingsIn(storage, owner) {
  const things = [];
  try {
    for (let index = 0; index < storage.length; index += 1) {
      const key = storage.key(index);
      if (!key?.startsWith(prefix) || read(storage, key)?.owner !== owner) continue;
      const [place = "", ...name] = key.slice(prefix.length).split(".");
      things.push({ place, name: name.join(".") });
    }
  } catch {
    // Storage may be forbidden.
  }
  return things;
}

/**
 * Whether any tab has stored data of a user.
 *
 * @param {Store} storage
 * @param {string} owner
 */
export const hasThings = (storage, owner) => thingsIn(storage, owner).length > 0;

/**
 * Opens this tab's drawer, and adopts the data that closed tabs have left.
 *
 * @param {() => string} owner The current user.
 * @returns {Promise<Drawer>}
 */
export async function openDrawer(owner) {
  const [storage, tabs] = [lastingStore(), tabStore()];
  // "Duplicate tab" copies `sessionStorage`, so the lock decides which tab owns the id.
  let id = tabs.getItem(tabKey) ?? "";
  if (!/^[0-9a-f]{32}$/.test(id) || !(await hold(lockName(id)))) {
    id = randomId();
    await hold(lockName(id));
    try {
      tabs.setItem(tabKey, id);
    } catch {
      // The storage is full: after a reload this is a new tab.
    }
  }
  const drawer = new Drawer({ storage, owner, id });
  // Without locks a closed tab cannot be distinguished from a suspended one.
  if (globalThis.navigator?.locks) {
    const others = new Set(thingsIn(storage, owner()).map(({ place }) => place).filter((place) => place !== id));
    for (const other of others) if (await hold(lockName(other), false)) drawer.add(other);
  }
  return drawer;
}
