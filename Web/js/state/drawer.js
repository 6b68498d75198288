// The things that a tab keeps until they are on the server: notes that are begun, and words for notes that are not open.
//
// The drawer is in `localStorage`, so that it outlives the tab and the browser; under the id of the tab, which
// holds a lock of that name. A tab that opens later takes over the things of closed tabs: it then holds their
// locks, and leaves the things under their keys, so that nothing can be lost by moving it.
//
// What a signed-in user left is for the same user alone (`owner`; "" if no user was signed in).

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
  /** @type {string[]} Of this tab first, then of those that have gone. */
  #ids = [];
  /** @type {Map<string, string>} In which of them a thing lies; the names of things are unique. */
  #places = new Map();

  /**
   * @param {object} options
   * @param {Store} options.storage
   * @param {() => string} options.owner Who this is now.
   * @param {string} options.id Of this tab.
   */
  constructor({ storage, owner, id }) {
    this.#storage = storage;
    this.#owner = owner;
    this.add(id);
  }

  /** @param {string} id Of a tab that has gone. */
  add(id) {
    this.#ids.push(id);
    for (const { place, name } of thingsIn(this.#storage, this.#owner())) {
      if (place === id && !this.#places.has(name)) this.#places.set(name, id);
    }
  }

  /** @param {string} start @returns {string[]} Names that start so, without that start. */
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
   * @returns {boolean} False when the browser has no room for it.
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
 * Whether a drawer contains things of a person.
 *
 * @param {Store} storage
 * @param {string} owner
 */
export const hasThings = (storage, owner) => thingsIn(storage, owner).length > 0;

/**
 * Opens this tab's drawer, with the things that closed tabs have left.
 *
 * @param {() => string} owner Who this is now.
 * @returns {Promise<Drawer>}
 */
export async function openDrawer(owner) {
  const [storage, tabs] = [lastingStore(), tabStore()];
  // "Duplicate tab" copies `sessionStorage`: the lock decides.
  let id = tabs.getItem(tabKey) ?? "";
  if (!/^[0-9a-f]{32}$/.test(id) || !(await hold(lockName(id)))) {
    id = randomId();
    await hold(lockName(id));
    try {
      tabs.setItem(tabKey, id);
    } catch {
      // Then a reload is a new tab.
    }
  }
  const drawer = new Drawer({ storage, owner, id });
  // Without locks a closed tab cannot be told from a sleeping one.
  if (globalThis.navigator?.locks) {
    const others = new Set(thingsIn(storage, owner()).map(({ place }) => place).filter((place) => place !== id));
    for (const other of others) if (await hold(lockName(other), false)) drawer.add(other);
  }
  return drawer;
}
