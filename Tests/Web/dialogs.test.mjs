// Questions before actions that cannot be undone, and messages shown meanwhile.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { confirm, openDialog } from "../../Web/js/ground/dialogs.js";

const { document } = globalThis;
after(() => (globalThis.document = document));

/** An element with the members that `dialogs.js` uses. */
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

/** A page that creates such an element for each requested id. */
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

test("messages are shown in the topmost dialog, which covers the page", async () => {
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

test("an answer applies only to the question that was shown", async () => {
  const byId = pageOfElements();
  const first = confirm({ title: "Delete “One”?", text: "", yes: "Delete" });
  // A second question during the first, as when the user continues by keys while both wait for the server.
  const second = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  assert.equal(byId("confirm-title").textContent, "Delete “One”?");
  byId("confirm").close("confirm");
  assert.deepEqual(await Promise.all([first, second]), [true, false]);
  const third = confirm({ title: "Delete “Two”?", text: "", yes: "Delete" });
  byId("confirm").close("");
  assert.equal(await third, false);
});

test("a late close event does not answer a later question", async () => {
  const byId = pageOfElements();
  const dialog = byId("confirm");
  const isAt = (/** @type {string} */ id) => ["toast", "live"].every((name) => byId(name).parentElement === byId(id));
  // The browser fires the event in a later task, before which the next question may be asked.
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
