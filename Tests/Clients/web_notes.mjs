// A note's whole life by the module of the SDK for web pages: node web_notes.mjs ORIGIN TOKEN EXPIRED

import assert from "node:assert/strict";
import { ParleyError } from "../../Web/sdk/errors.js";
import { Notes } from "../../Web/sdk/notes.js";

const [, , origin = "", token = "", expired = ""] = process.argv;
const error = (/** @type {any} */ ...parts) => new ParleyError(...parts);
const client = (/** @type {(isRefused: boolean) => string} */ give, base = `${origin}/`, timeout = 30_000) =>
  new Notes({ base: new URL(base), timeout, error, token: async (isRefused) => give(isRefused) });
const notes = client((isRefused) => (isRefused ? token : expired));

/** @param {Promise<unknown>} work @param {string} code @param {string} reason @param {RegExp} words */
const fails = (work, code, reason, words) =>
  assert.rejects(work, (one) => one instanceof ParleyError && one.code === code && one.reason === reason && words.test(one.message));

const made = await notes.create({ title: "Shopping", folder: "home" });
const { id } = made;
assert.equal((await notes.info(id)).createdAt, made.createdAt);
assert.equal((await notes.list({ folder: "home", limit: 1 })).notes[0]?.id, id);
assert.equal((await notes.rename(id, "Groceries")).title, "Groceries");
assert.equal((await notes.move(id, "home/old")).folder, "home/old");
assert.ok((await notes.folders()).some(({ folder }) => folder === "home/old"));
assert.ok(Array.isArray(await notes.search("groc")));

const put = await fetch(`${origin}/api/notes/${id}/text`, {
  method: "PUT", body: "milk and bread", headers: { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" },
});
assert.equal(put.status, 200);
const { revision, text } = await notes.text(id);
assert.equal(text, "milk and bread");
const first = await notes.comment(id, { text: "Which?", anchor: { revision, from: 0, to: 4 } });
await notes.comment(id, { text: "Oats", thread: first.id });
await notes.editComment(id, first.id, { text: "Which one?" });
assert.ok((await notes.editComment(id, first.id, { resolved: true })).resolved);
assert.deepEqual((await notes.comments(id)).map((one) => one.text), ["Which one?", "Oats"]);
await notes.deleteComment(id, first.id);
await notes.addVersion(id, { name: "first", revision });
assert.deepEqual((await notes.versions(id)).map(({ name }) => name), ["first"]);
await notes.removeVersion(id, revision);
assert.equal((await notes.history(id)).head, revision);
assert.equal((await notes.changes(id, { from: 0, to: revision }))[0]?.inserted, "milk and bread");
assert.equal((await notes.restoreTo(id, 0)).revision, revision + 1);

const link = await notes.share(id, { access: "write", expiresIn: 60 });
assert.ok(link.url.startsWith(`${origin}/s/`));
assert.deepEqual((await notes.links(id)).map((one) => one.id), [link.id]);
await notes.unshare(id, link.id);
assert.deepEqual(await notes.links(id), []);
const file = await notes.upload(id, new Blob(["plan"]), "a plan.txt");
assert.deepEqual((await notes.files(id)).map(({ hash }) => hash), [file.hash]);
assert.equal(await (await notes.download(id, file)).text(), "plan");

assert.equal(await notes.delete(id), undefined);
await fails(notes.info(id), "refused", "unknownDocument", /create it first/);
assert.deepEqual((await notes.deleted()).notes.map((one) => one.id), [id]);
assert.equal((await notes.restore(id)).title, "Groceries");
await notes.delete(id);
await notes.purge(id);

await fails(notes.create({ title: "two\nlines" }), "refused", "badMessage", /refuses this/);
await fails(client(() => expired).list(), "refused", "unauthorised", /unauthorised/);
await fails(client(() => token, "http://127.0.0.1:1/").list(), "unreachable", "", /is it up/);
