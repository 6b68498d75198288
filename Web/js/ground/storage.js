// The browser's storage, or an empty one if the browser forbids it, as when all cookies are blocked.

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

/** @param {() => Store | null | undefined} storage Throws where it is forbidden. */
function storeOf(storage) {
  try {
    return storage() ?? none;
  } catch {
    return none;
  }
}

/** The storage that outlives the browser. */
export const lastingStore = () => storeOf(() => localStorage);

/** The storage that outlives a reload of this tab. */
export const tabStore = () => storeOf(() => sessionStorage);
