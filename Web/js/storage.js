// The browser's storage. Where the browser forbids it, as it does with all cookies, one that holds nothing.

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

/** What outlives the browser. */
export const lastingStore = () => storeOf(() => localStorage);

/** What a reload of this tab keeps. */
export const tabStore = () => storeOf(() => sessionStorage);
