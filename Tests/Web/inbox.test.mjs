// The numbers of unread notices: counted when the user's room is live and when it reports a change, for this user alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../Web/js/ground/emitter.js";
import { Inbox } from "../../Web/js/state/inbox.js";

/** @param {string} owner */
function made(owner) {
  const connection = Object.assign(new Emitter(), { subscribe: (/** @type {string} */ room) => void rooms.push(room) });
  /** @type {string[]} */
  const rooms = [];
  /** @type {[string, string | undefined][]} */
  const asked = [];
  /** @type {unknown[]} */
  const sent = [];
  const state = {
    owner, asked, rooms, sent, unread: 0,
    inbox: new Inbox(/** @type {any} */ (connection), () => state.owner, {
      requestUnless: async (path, tag) => {
        asked.push([path, tag]);
        const own = `W/"${state.owner}${state.unread}"`;
        if (tag === own) return { isSame: true, tag };
        return { isSame: false, answer: { unread: state.unread, notes: [{ id: "__proto__", unread: state.unread }] }, tag: own };
      },
      request: async (path, method, body) => void sent.push([path, method, body]),
    }),
    say: async (/** @type {string} */ name, /** @type {unknown} */ value) => {
      connection.emit(name, value);
      await state.inbox.refresh();
    },
  };
  return state;
}

test("the numbers are fetched when the room is live, and when it reports a change", async () => {
  const state = made("bob");
  let changes = 0;
  state.inbox.on("changed", () => (changes += 1));
  state.unread = 2;
  await state.say("welcome", {});
  assert.deepEqual(state.rooms, ["/notices/bob"]);
  await state.say("room", "/notices/bob");
  assert.equal(state.inbox.unread, 2);
  assert.equal(state.inbox.unreadOf("__proto__"), 2);
  assert.equal(state.inbox.unreadOf("constructor"), 0);
  assert.equal(changes, 1);
  state.unread = 3;
  await state.say("resource", "notices");
  assert.equal(state.inbox.unread, 3);
  const count = state.asked.length;
  await state.say("resource", "notes");
  assert.equal(state.asked.length, count + 1, "only the one that this test asks for");
});

test("another user's numbers are neither shown nor taken for current, and guests ask for none", async () => {
  const state = made("bob");
  state.unread = 1;
  await state.say("welcome", {});
  state.owner = "eve";
  await state.say("welcome", {});
  assert.equal(state.asked.at(-1)?.[1], undefined);
  assert.deepEqual(state.rooms, ["/notices/bob", "/notices/eve"]);
  await state.say("room", "/notices/eve");
  const guest = made("");
  assert.equal(guest.inbox.isOffered, false);
  assert.deepEqual(guest.rooms, []);
});

test("what is marked as read is sent, and the numbers are fetched again", async () => {
  const state = made("bob");
  await state.inbox.markRead({ through: 7 });
  assert.deepEqual(state.sent, [["/api/notices/read", "POST", { through: 7 }]]);
  assert.equal(state.asked.length, 1);
});
