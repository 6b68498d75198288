// Questions before what cannot be undone, and what is said in passing meanwhile.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { confirm, openDialog } from "../../Web/js/ground/dialogs.js";

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
  contains = () => false;
  /** @type {Element | undefined} */
  parentElement;

  /** @param {Element} child */
  append(child) {
    child.parentElement = this;
  }

  /** @param {string} [value] */
  close(value = "") {
    this.returnValue = value;
    this.open = false;
    this.dispatchEvent(new Event("close"));
  }
}

/** A page of such elements, one of each name. */
function pageOfElements() {
  /** @type {Map<string, Element>} */
  const elements = new Map();
  const byId = (/** @type {string} */ id) => {
    if (!elements.has(id)) elements.set(id, new Element());
    return /** @type {Element} */ (elements.get(id));
  };
  globalThis.document = /** @type {any} */ ({ getElementById: byId, body: byId("body") });
  return byId;
}

test("what is said in passing is said in the topmost dialog, for all else is covered", async () => {
  const byId = pageOfElements();
  const isAt = (/** @type {string} */ id) => ["toast", "live"].every((name) => byId(name).parentElement === byId(id));
  void openDialog(/** @type {any} */ (byId("sharing")));
  assert.ok(isAt("sharing"));
  const answer = confirm({ title: "Withdraw?", text: "", yes: "Withdraw" });
  assert.ok(isAt("confirm"));
  byId("confirm").close("confirm");
  await answer;
  assert.ok(isAt("sharing"));
  byId("sharing").close();
  assert.ok(isAt("body"));
});

test("an answer counts for the question that was read, and for no other", async () => {
  const byId = pageOfElements();
  const first = confirm({ title: "Delete “One”?", text: "", yes: "Delete" });
  // Both waited for the server, as it may be when the user continues by keys.
  const second = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  assert.equal(byId("confirm-title").textContent, "Delete “One”?");
  byId("confirm").close("confirm");
  assert.deepEqual(await Promise.all([first, second]), [true, false]);
  const third = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  byId("confirm").close("");
  assert.equal(await third, false);
});

test("a late event of closing ends no question asked since", async () => {
  const byId = pageOfElements();
  const dialog = byId("confirm");
  const isAt = (/** @type {string} */ id) => ["toast", "live"].every((name) => byId(name).parentElement === byId(id));
  // The browser fires the event in a task of its own, which a key may overtake.
  const closeQuietly = (/** @type {string} */ value) => Object.assign(dialog, { returnValue: value, open: false });
  for (const answer of ["", "confirm"]) {
    const first = confirm({ title: "Delete “One”?", text: "", yes: "Delete" });
    closeQuietly(answer);
    const second = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
    dialog.dispatchEvent(new Event("close"));
    assert.equal(await first, answer === "confirm");
    assert.ok(isAt("confirm"));
    dialog.close("confirm");
    assert.equal(await second, true);
    assert.ok(isAt("body"));
  }
});
