// Questions before what cannot be undone.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { confirm } from "../../Web/js/shell/dialogs.js";

const { document } = globalThis;
after(() => (globalThis.document = document));

/** What `dialogs.js` needs of an element. */
class Element extends EventTarget {
  textContent = "";
  className = "";
  returnValue = "";
  open = false;
  showModal = () => void (this.open = true);
  querySelectorAll = () => [];

  /** @param {string} value */
  close(value) {
    this.returnValue = value;
    this.open = false;
    this.dispatchEvent(new Event("close"));
  }
}

test("an answer counts for the question that was read, and for no other", async () => {
  /** @type {Map<string, Element>} */
  const elements = new Map();
  const byId = (/** @type {string} */ id) => {
    if (!elements.has(id)) elements.set(id, new Element());
    return /** @type {Element} */ (elements.get(id));
  };
  globalThis.document = /** @type {any} */ ({ getElementById: byId });
  const first = confirm({ title: "Delete “One”?", text: "", yes: "Delete" });
  // Both waited for the server, as it may be when somebody goes on by keys.
  const second = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  assert.equal(byId("confirm-title").textContent, "Delete “One”?");
  byId("confirm").close("confirm");
  assert.deepEqual(await Promise.all([first, second]), [true, false]);
  const third = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  byId("confirm").close("");
  assert.equal(await third, false);
});
