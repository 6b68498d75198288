// The browser's storage, or an empty one if the browser forbids it, for example when all cookies are blocked.

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">} Store */

/** @type {Store} */
const none = {
  length: 0,
  key: () => null,
  getItem: () => null,
  removeItem: () => {},
  setItem() {
    throw new Error("nothing can be stored here");
  },
};

/** @param {() => Store | null | undefined} storage Throws if the browser forbids it. */
function storeOf(storage) {
  try {
    return storage() ?? none;
  } catch {
    return none;
  }
}

/** The storage that persists when the browser closes. */
export const lastingStore = () => storeOf(() => localStorage);

/** The storage that persists across reloads of this tab. */
export const tabStore = () => storeOf(() => sessionStorage);
