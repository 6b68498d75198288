// While the page starts: clicks are stored, and a long wait is explained.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import english from "../../Web/js/languages/en.js";
import { hold } from "../../Web/js/client/identity.js";
import { withLimit } from "../../Web/js/ground/limit.js";
import { stopTime } from "./support.mjs";

const folder = new URL("../../Web/", import.meta.url);
const source = readFileSync(new URL("js/starting.js", folder), "utf8");

/** @type {Map<string, string>} The texts by the ids of their elements, as in the built page. */
const texts = new Map([
  ["starting-slow", english["starting.slow"]], ["starting-failed", english["starting.failed"]], ["starting-reload", english.reload],
]);

/** An element with the members that the script uses. */
class FakeElement {
  /** @type {Map<string, string>} */
  attributes = new Map();
  /** @type {(() => void)[]} */
  listeners = [];
  /** @type {any[]} */
  children = [];
  hidden = false;
  clicks = 0;
  textContent = "";
  /** @type {FakeElement | undefined} */
  parent;

  constructor(isButton = false) {
    this.isButton = isButton;
  }

  closest = () => (this.isButton ? this : null);
  click = () => void (this.clicks += 1);
  setAttribute = (/** @type {string} */ name, /** @type {string} */ value) => void this.attributes.set(name, value);
  removeAttribute = (/** @type {string} */ name) => void this.attributes.delete(name);
  addEventListener = (/** @type {string} */ _type, /** @type {() => void} */ run) => void this.listeners.push(run);
  append = (/** @type {FakeElement[]} */ ...added) => {
    this.children.push(...added);
    for (const one of added) one.parent = this;
  };
  remove = () => {
    if (this.parent) this.parent.children = this.parent.children.filter((one) => one !== this);
  };
}

/**
 * Runs the script in a document that is being parsed.
 *
 * @param {Map<string, string>} [store] The tab's storage. Without it the page may not use any.
 */
function openPage(store) {
  const sessionStorage = store && {
    getItem: (/** @type {string} */ key) => store.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void store.set(key, value),
  };
  const body = new FakeElement();
  /** @type {Map<string, (event: any) => void>} */
  const listeners = new Map();
  let reloads = 0;
  const document = {
    body,
    createElement: () => new FakeElement(),
    getElementById: (/** @type {string} */ id) => ({ textContent: texts.get(id) }),
    addEventListener: (/** @type {string} */ type, /** @type {any} */ run) => void listeners.set(type, run),
    removeEventListener: (/** @type {string} */ type) => void listeners.delete(type),
  };
  const { setTimeout, clearTimeout, Date } = globalThis;
  const location = { reload: () => (reloads += 1) };
  runInNewContext(source, { document, setTimeout, clearTimeout, Date, location, sessionStorage });
  return {
    miss: (/** @type {object} */ target) => listeners.get("error")?.({ target }),
    clickOn: (/** @type {FakeElement} */ target) => listeners.get("click")?.({ target }),
    emit: (/** @type {string} */ type) => listeners.get(type)?.({ type }),
    /** The message to the user. */
    told: () => body.children.map(({ children: [words] }) => words.textContent).join(" "),
    pressReload: () => body.children[0].children[1].listeners.forEach((/** @type {() => void} */ run) => run()),
    reloads: () => reloads,
  };
}

test("a click on a button is performed once, when the page has started", (context) => {
  stopTime(context);
  const page = openPage();
  const create = new FakeElement(true);
  page.clickOn(create);
  assert.equal(create.clicks, 0);
  assert.equal(create.attributes.get("aria-busy"), "true");
  page.emit("parley-started");
  assert.equal(create.clicks, 1);
  assert.equal(create.attributes.has("aria-busy"), false);
  // Later clicks are left to the page's listeners.
  page.clickOn(create);
  page.emit("parley-started");
  assert.equal(create.clicks, 1);
});

test("only the latest click on a button is performed", (context) => {
  stopTime(context);
  const page = openPage();
  const [first, second] = [new FakeElement(true), new FakeElement(true)];
  page.clickOn(first);
  page.clickOn(second);
  page.clickOn(new FakeElement());
  page.emit("parley-started");
  assert.deepEqual([first.clicks, second.clicks], [0, 1]);
  assert.equal(first.attributes.has("aria-busy"), false);
});

test("a button that was hidden meanwhile is not clicked", (context) => {
  stopTime(context);
  const page = openPage();
  const create = new FakeElement(true);
  page.clickOn(create);
  create.hidden = true;
  page.emit("parley-started");
  assert.equal(create.clicks, 0);
});

test("a long wait is explained until the page has started", (context) => {
  const pass = stopTime(context);
  const page = openPage();
  const create = new FakeElement(true);
  page.clickOn(create);
  pass(19_999);
  assert.equal(page.told(), "");
  pass(1);
  assert.match(page.told(), /still starting/);
  page.pressReload();
  assert.equal(page.reloads(), 1);
  page.emit("parley-started");
  assert.equal(page.told(), "");
  assert.equal(create.clicks, 1);
});

test("a failed start is reported once, before or after the explanation", (context) => {
  const pass = stopTime(context);
  for (const wait of [0, 20_000]) {
    const page = openPage();
    const create = new FakeElement(true);
    page.clickOn(create);
    pass(wait);
    page.emit("parley-failed");
    pass(20_000);
    assert.match(page.told(), /^Parley could not start here\./);
    assert.equal(create.clicks, 0);
    assert.equal(create.attributes.has("aria-busy"), false);
  }
});

test("a page whose files are no longer on the server reloads itself once", (context) => {
  stopTime(context);
  const store = new Map();
  const page = openPage(store);
  page.miss({ tagName: "LINK", rel: "icon" });
  assert.deepEqual([page.reloads(), page.told()], [0, ""]);
  page.miss({ tagName: "SCRIPT", src: "main-gone.js" });
  assert.deepEqual([page.reloads(), page.told()], [1, ""]);
  const again = openPage(store);
  again.miss({ tagName: "LINK", rel: "stylesheet" });
  assert.equal(again.reloads(), 0);
  assert.match(again.told(), /could not start/);
  const forgetful = openPage();
  forgetful.miss({ tagName: "SCRIPT", src: "main-gone.js" });
  assert.equal(forgetful.reloads(), 0);
  assert.match(forgetful.told(), /could not start/);
});

test("the script precedes the first button, and is not deferred", () => {
  const html = readFileSync(new URL("index.html", folder), "utf8");
  const script = html.indexOf('<script src="assets/js/starting.js"></script>');
  assert.ok(script > 0 && script < html.indexOf('type="module"') && script < html.indexOf("<button"));
});

test("withLimit returns the other value after the time limit", async (context) => {
  const pass = stopTime(context);
  const never = withLimit(new Promise(() => {}), 50, "otherwise");
  pass(50);
  assert.equal(await never, "otherwise");
  assert.equal(await withLimit(Promise.resolve("came"), 50, "otherwise"), "came");
  await assert.rejects(withLimit(Promise.reject(new Error("failed")), 50, "otherwise"), /failed/);
});

test("a browser that does not answer requests for locks delays the page only once", async (context) => {
  const pass = stopTime(context);
  const given = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  context.after(() => {
    if (given) Object.defineProperty(globalThis, "navigator", given);
    else Reflect.deleteProperty(globalThis, "navigator");
  });
  /** @type {((lock: object | null) => any)[]} */
  const asked = [];
  const locks = {
    request: (/** @type {string} */ _name, /** @type {object} */ _options, /** @type {any} */ answer) => {
      asked.push(answer);
      return new Promise(() => {});
    },
  };
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  const own = hold("own");
  const foreign = hold("foreign", false);
  pass(3_000);
  assert.deepEqual([await own, await foreign], [true, false]);
  // After one request without an answer, the page does not wait for the next.
  const next = hold("next", false);
  pass(0);
  assert.equal(await next, false);
  // If locks are granted late, the tab keeps its own, and releases that of another tab.
  assert.ok(asked[0]?.({}) instanceof Promise);
  assert.equal(asked[1]?.({}), undefined);
  // After an answer in time, answers are used again.
  const taken = hold("taken");
  asked[3]?.(null);
  assert.equal(await taken, false);
});
