// The sources and the storage of tokens, and the messages between tabs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Access, claimsOf, formerPass, fragmentOf, tokenIn } from "../../Web/js/state/access.js";
import { initials } from "../../Web/js/state/people.js";

/** @param {object} claims */
const tokenOf = (claims) =>
  `${btoa("{}")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmF0dXJl`;

/**
 * A tab's storage.
 *
 * @param {Map<string, string>} [kept]
 */
const storageOf = (kept = new Map()) => ({
  getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
  removeItem: (/** @type {string} */ key) => void kept.delete(key),
});

/** Returns channels for the tabs of one browser. Each message reaches all other tabs. */
function browser() {
  /** @type {{tab: object, hear: (event: {data: any}) => void}[]} */
  const listeners = [];
  return () => {
    const tab = {};
    return /** @type {any} */ ({
      addEventListener: (/** @type {string} */ _, /** @type {any} */ hear) => listeners.push({ tab, hear }),
      postMessage: (/** @type {any} */ data) => {
        for (const other of listeners) if (other.tab !== tab) other.hear({ data });
      },
    });
  };
}

test("fragmentOf distinguishes tokens, links, invitations and the history", () => {
  assert.deepEqual(fragmentOf(""), { token: undefined, share: undefined, invite: undefined, reset: undefined, isHistory: false, isNew: false, newKey: undefined, key: undefined, heading: undefined, comment: undefined, isSignedIn: false, signInProblem: undefined });
  assert.deepEqual(fragmentOf("#history"), { token: undefined, share: undefined, invite: undefined, reset: undefined, isHistory: true, isNew: false, newKey: undefined, key: undefined, heading: undefined, comment: undefined, isSignedIn: false, signInProblem: undefined });
  assert.deepEqual(fragmentOf("#share=a.b-_.c&history"), { token: undefined, share: "a.b-_.c", invite: undefined, reset: undefined, isHistory: true, isNew: false, newKey: undefined, key: undefined, heading: undefined, comment: undefined, isSignedIn: false, signInProblem: undefined });
  assert.equal(fragmentOf("#invite=pi_a-_").invite, "pi_a-_");
  assert.equal(fragmentOf("#reset=pr_a-_").reset, "pr_a-_");
  assert.equal(fragmentOf("#s=k-_").key, "k-_");
  assert.equal(fragmentOf("#signed-in").isSignedIn, true);
  assert.equal(fragmentOf("#sign-in-problem=denied").signInProblem, "denied");
  assert.equal(fragmentOf("#share=a.b.c&heading=what-to-bring").heading, "what-to-bring");
  assert.equal(fragmentOf("#comment=c-1").comment, "c-1");
  assert.equal(fragmentOf("#new").isNew, true);
  assert.equal(fragmentOf("#new=0a1b").newKey, "0a1b");
  assert.deepEqual(fragmentOf("#token=a.b.c"), { token: "a.b.c", share: undefined, invite: undefined, reset: undefined, isHistory: false, isNew: false, newKey: undefined, key: undefined, heading: undefined, comment: undefined, isSignedIn: false, signInProblem: undefined });
});

test("claimsOf reads the claims of a token, and returns undefined for malformed tokens", () => {
  const claims = { sub: "ada", name: "Ada 🦆 Лавлейс", exp: 12.5 };
  assert.deepEqual(claimsOf(tokenOf(claims)), claims);
  assert.deepEqual(claimsOf(tokenOf({ sub: 7, name: null, exp: "soon" })), {
    sub: undefined, name: undefined, exp: undefined,
  });
  for (const none of ["", "a.b", "a.b.c", "..", "a.bnVsbA.c", "ä.ö.ü", "a.b.c.d"]) {
    assert.equal(claimsOf(none), undefined, none);
  }
});

test("tokenIn extracts the token from a pasted header, address or text", () => {
  assert.equal(tokenIn("  Authorization: Bearer a.b\n.c \n"), "a.b.c");
  assert.equal(tokenIn("bearer a.b.c"), "a.b.c");
  assert.equal(tokenIn("https://here/n/x#token=a.b.c&history"), "a.b.c");
  assert.equal(tokenIn("a.b.c"), "a.b.c");
});

test("a reload of the tab keeps the token, and a link stays in the address", () => {
  const storage = storageOf();
  const mine = tokenOf({ sub: "ada", exp: 100 });
  const first = new Access({ location: { hash: `#token=${mine}` }, storage });
  assert.equal(first.token, mine);
  assert.equal(first.fragment, "");
  assert.equal(first.hasEnded(99_999), false);
  assert.equal(first.hasEnded(100_000), true);
  const again = new Access({ location: { hash: "" }, storage });
  assert.equal(again.token, mine);
  assert.equal(again.isLink, false);
  const link = new Access({ location: { hash: "#share=l.i.nk" }, storage });
  assert.equal(link.token, "l.i.nk");
  assert.equal(link.fragment, "share=l.i.nk");
  assert.equal(new Access({ location: { hash: "" }, storage }).isLink, true);
  link.leave();
  assert.equal(new Access({ location: { hash: "" }, storage }).token, undefined);
});

test("without storage a token lasts as long as the page", () => {
  const full = {
    ...storageOf(),
    setItem() {
      throw new Error("full");
    },
  };
  const access = new Access({ location: { hash: "" }, storage: full });
  let changes = 0;
  access.on("changed", () => (changes += 1));
  access.take({ token: "a.b.c" });
  access.take({ token: "a.b.c" });
  assert.equal(access.token, "a.b.c");
  assert.equal(changes, 1);
});

test("a tab offers its user's token only to tabs of the same user", () => {
  const channel = browser();
  const open = (/** @type {string} */ hash) => {
    const access = new Access({ location: { hash }, storage: storageOf(), channel: channel() });
    /** @type {string[]} */
    const offers = [];
    access.on("offered", ({ token }) => offers.push(token));
    return { access, offers };
  };
  const until = Math.floor(Date.now() / 1000) + 1000;
  const [old, newer, eves] = [
    tokenOf({ sub: "ada", exp: until }), tokenOf({ sub: "ada", exp: until + 500 }), tokenOf({ sub: "eve", exp: until + 900 }),
  ];
  const first = open(`#token=${old}`);
  const guest = open("#share=l.i.nk");
  const second = open("");
  second.access.ask();
  assert.deepEqual(second.offers, [old]);
  second.access.take({ token: newer });
  assert.deepEqual(first.offers, [newer]);
  const eve = open(`#token=${eves}`);
  assert.deepEqual(first.offers, [newer]);
  first.access.take({ token: newer });
  assert.deepEqual([eve.offers, guest.offers], [[], []]);
  // Links of guests and expired tokens are not offered.
  const lonely = browser();
  const ended = new Access({
    location: { hash: `#token=${tokenOf({ sub: "ada", exp: 1 })}` }, storage: storageOf(), channel: lonely(),
  });
  assert.ok(ended.hasEnded());
  const other = new Access({ location: { hash: "" }, storage: storageOf(), channel: lonely() });
  other.on("offered", () => assert.fail("a token that has ended was handed on"));
  other.ask();
});

/** A browser whose tabs can be reloaded. */
function withTabs() {
  const channel = browser();
  return (/** @type {string} */ hash, kept = new Map()) => {
    const access = new Access({ location: { hash }, storage: storageOf(kept), channel: channel() });
    /** @type {string[]} */
    const events = [];
    access.on("offered", ({ token }) => events.push(token));
    access.on("signedOut", () => events.push("signed out"));
    return { access, events, kept };
  };
}

test("signing out in one tab signs out all tabs of the user, and no tab offers the token again", () => {
  const open = withTabs();
  const [anns, eves] = [tokenOf({ sub: "ann" }), tokenOf({ sub: "eve" })];
  const here = open(`#token=${anns}`);
  const there = open("");
  there.access.take({ token: anns, refreshToken: "again" });
  const eve = open("");
  eve.access.take({ token: eves });
  const guest = open("#share=l.i.nk");
  here.access.leave();
  assert.deepEqual(there.events, ["signed out"]);
  assert.deepEqual([eve.events, guest.events], [[], []]);
  // Until it is closed, the page still belongs to the user, but it neither offers nor accepts tokens.
  assert.equal(here.access.claims?.sub, "ann");
  there.access.leave({ isHere: true });
  assert.deepEqual(here.events, []);
  const newcomer = open("");
  newcomer.access.ask();
  assert.deepEqual(newcomer.events, [eves]);
  here.access.take({ token: tokenOf({ sub: "ann", exp: 9_999_999_999 }) });
  for (const { kept } of [here, there]) {
    const again = open("", kept);
    assert.equal(again.access.token, undefined);
    // Another user's token is not accepted, whether offered by an open tab or by a new one.
    again.access.ask();
    newcomer.access.ask();
    newcomer.access.take({ token: eves });
    assert.deepEqual(again.events, []);
    // A user who signs in now is signed in to all tabs without a user.
    const bos = tokenOf({ sub: "bo" });
    const bo = open("");
    bo.access.take({ token: bos });
    assert.deepEqual(again.events, [bos]);
    again.access.take({ token: bos });
    const later = open("", kept);
    assert.equal(later.access.token, bos);
    bo.access.leave();
    assert.deepEqual(later.events, ["signed out"]);
    again.access.leave({ isHere: true });
    later.access.leave({ isHere: true });
  }
});

test("signing out a second time notifies tabs that were opened meanwhile", () => {
  const open = withTabs();
  const mine = tokenOf({ sub: "ann" });
  const here = open(`#token=${mine}`);
  here.access.leave();
  const late = open(`#token=${mine}`);
  here.access.leave();
  assert.deepEqual(late.events, ["signed out"]);
});

test("a guest who leaves a link gets the user's token from another tab", () => {
  const open = withTabs();
  const mine = tokenOf({ sub: "ann" });
  const tab = open(`#token=${mine}`);
  const guest = open("#share=l.i.nk");
  guest.access.leave();
  assert.deepEqual(tab.events, []);
  const again = open("", guest.kept);
  again.access.ask();
  assert.deepEqual(again.events, [mine]);
});

test("a token for the next user is used from the next load on", () => {
  const open = withTabs();
  const [anns, bos] = [tokenOf({ sub: "ann" }), tokenOf({ sub: "bo" })];
  const here = open(`#token=${anns}`);
  here.access.leave({ next: { token: bos } });
  assert.equal(here.access.token, anns);
  assert.equal(open("", here.kept).access.token, bos);
});

test("initials ignore a mark in brackets after the name", () => {
  assert.equal(initials("Bo Li (guest)"), "BL");
  assert.equal(initials("(guest)"), "(");
});

test("a short link stays in the address, and a reload finds its token", () => {
  const storage = storageOf();
  const opened = new Access({ location: { hash: "#s=k-_" }, storage, link: { key: "k-_", token: tokenOf({ sub: "share/n" }) } });
  assert.equal(opened.isLink, true);
  assert.equal(opened.fragment, "s=k-_");
  assert.deepEqual(formerPass(storage), { key: "k-_", token: opened.token });
  assert.equal(formerPass(storageOf()), undefined);
});

test("the audience of the access token tells whether a stored session has a password", () => {
  const access = new Access({ location: { hash: "" }, storage: storageOf() });
  access.take({ token: tokenOf({ sub: "ada", aud: "parley:user" }), isKept: true });
  assert.equal(access.hasPassword, true);
  access.take({ token: tokenOf({ sub: "ada", aud: "parley:self" }), isKept: true });
  assert.equal(access.hasPassword, false);
});
