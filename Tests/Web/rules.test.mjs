// The rules of the protocol are in the client core. The page must not repeat them, because the two would diverge.
// door.js is the interface to the core, and knows only the formats.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../Web/js/", import.meta.url);
// Texts of languages are excluded: “présumés” contains “resume”.
const names = readdirSync(folder, { recursive: true }).map(String)
  .filter((name) => name.endsWith(".js") && !["client/door.js", "codemirror.js"].includes(name))
  .filter((name) => !name.startsWith("languages/"));
const sourceOf = (/** @type {string} */ name) => readFileSync(new URL(name, folder), "utf8");

/**
 * Patterns in code that implements a rule, and modules that may contain them for another reason.
 *
 * @type {{rule: string, sign: RegExp, except: string[]}[]}
 */
const signs = [
  // problems.js names the server's codes. The ranges of comments belong to a text, which is identified by epoch and
  // revision.
  { rule: "numbers of changes", sign: /sequence/i, except: ["ground/problems.js"] },
  { rule: "histories", sign: /epoch/i, except: ["ground/problems.js", "comments/comments.js", "history/pastcomments.js"] },
  { rule: "where to resume", sign: /resume(?!Token)|rejoin|renumber/i, except: [] },
  { rule: "changes on their way", sign: /in-?[fF]light|resend|acknowledged|retryAfter|supersede/, except: [] },
  // The editor delays changes of a composed line and colours of authors. These are changes of the editor, with its own
  // algebra.
  { rule: "operations", sign: /transform\(|rebase\(|compose\(/, except: ["editing/composedline.js", "history/authorcolours.js"] },
  { rule: "messages", sign: /messageId|lastSequence|"(hello|join|resync|ping|refresh)"/, except: [] },
  {
    rule: "counting revisions",
    except: ["history.js", "historyview.js", "past.js", "pastcomments.js", "sessions.js", "sessionlist.js", "comparing.js", "track.js", "authorcolours.js"]
      .map((name) => `history/${name}`).concat("comments/comments.js"),
    sign: /revision\s*(?:[-+*]|[<>]=?|[!=]==?)|(?:[-+*]|[<>]=?|[!=]==?)\s*(?:[\w#]+\.)*#?\w*revision\b/i,
  },
];

/** The only permitted use of a revision: finding the change that the page has requested over HTTP. */
const ownChange = "action.revision === this.#ownRevision";

/** @param {string} name @param {string} source @returns {string[]} The rules that a module implements. */
function rulesIn(name, source) {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replaceAll(name === "client/note.js" ? ownChange : "\0", "")
    .replace(/=>/g, "");
  return signs.filter(({ sign, except }) => !except.includes(name) && sign.test(code)).map(({ rule }) => rule);
}

test("only door.js handles sequences, epochs, revisions and resuming", () => {
  assert.ok(names.length > 40, `${names.length}`);
  for (const name of names) assert.deepEqual(rulesIn(name, sourceOf(name)), [], name);
});

test("rules that are added to a module are found", () => {
  /** @type {[string, string][]} */
  const planted = [
    ["numbers of changes", "if (data.sequence <= this.last) return;"],
    ["numbers of changes", "const next = welcome.lastSequence + 1;"],
    ["histories", "const isSame = joined.epoch === this.known;"],
    ["where to resume", "request.resume = { from: 7 };"],
    ["where to resume", "this.#rejoin();"],
    ["changes on their way", "if (session.inFlight) wait();"],
    ["changes on their way", "setTimeout(again, error.retryAfter);"],
    ["operations", "text = core.transform(mine, theirs);"],
    ["messages", 'socket.send(JSON.stringify({ messageId: "c1" }));'],
    ["messages", 'connection.send("join", { documentId });'],
    ["counting revisions", "if (revision > note.revision) take(change);"],
    ["counting revisions", "const first = data.revision - missed.length + 1;"],
    ["counting revisions", "expected = 1 + this.#revision;"],
  ];
  for (const name of ["client/note.js", "client/connection.js", "state/opennotes.js", "state/session.js", "editing/editor.js"]) {
    for (const [rule, code] of planted) {
      assert.ok(rulesIn(name, `${sourceOf(name)}\n${code}\n`).includes(rule), `${name}: ${code}`);
    }
  }
  assert.deepEqual(rulesIn("client/note.js", "// Of a sequence.\n/** An epoch. */\n"), []);
});

test("only connection.js uses the socket", () => {
  const users = names.filter((name) => /new WebSocket|\.onmessage|JSON\.parse\(data\)/.test(sourceOf(name)));
  assert.deepEqual(users, ["client/connection.js"]);
  assert.doesNotMatch(sourceOf("client/connection.js"), /JSON\./);
});
