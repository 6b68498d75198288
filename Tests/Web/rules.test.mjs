// The rules of the protocol are in the client core: the page has none of its own beside it, or the two would drift
// apart. door.js is the way to it, and knows forms alone.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../Web/js/", import.meta.url);
// Languages are words for people: “présumés” resumes nothing.
const names = readdirSync(folder, { recursive: true }).map(String)
  .filter((name) => name.endsWith(".js") && !["client/door.js", "codemirror.js"].includes(name))
  .filter((name) => !name.startsWith("languages/"));
const sourceOf = (/** @type {string} */ name) => readFileSync(new URL(name, folder), "utf8");

/**
 * What gives a rule away, and modules that may have it for another reason.
 *
 * @type {{rule: string, sign: RegExp, except: string[]}[]}
 */
const signs = [
  // Problems have the server's codes, to say them in plain words; former edits have numbers, to pass them on; a
  // comment's range is one of a text, which history and revision name.
  { rule: "numbers of changes", sign: /sequence/i, except: ["ground/problems.js"] },
  { rule: "histories", sign: /epoch/i, except: ["ground/problems.js", "comments/comments.js", "history/pastcomments.js"] },
  { rule: "where to resume", sign: /resume(?!Token)|rejoin|renumber/i, except: [] },
  { rule: "changes on their way", sign: /in-?[fF]light|resend|acknowledged|retryAfter|supersede/, except: [] },
  // The editor shows a composed line later than the note contains it, and the authors of a moment ago: those are the
  // editor's changes, by its own algebra.
  { rule: "operations", sign: /transform\(|rebase\(|compose\(/, except: ["editing/composedline.js", "history/authorcolours.js"] },
  { rule: "messages", sign: /messageId|lastSequence|"(hello|join|resync|ping|refresh)"/, except: [] },
  {
    rule: "counting revisions",
    except: ["history.js", "historyview.js", "past.js", "pastcomments.js", "sessions.js", "sessionlist.js", "comparing.js", "track.js", "authorcolours.js"]
      .map((name) => `history/${name}`).concat("comments/comments.js"),
    sign: /revision\s*(?:[-+*]|[<>]=?|[!=]==?)|(?:[-+*]|[<>]=?|[!=]==?)\s*(?:[\w#]+\.)*#?\w*revision\b/i,
  },
];

/** The one thing that the page does with a revision: it finds the change that it has asked for over HTTP. */
const ownChange = "action.revision === this.#ownRevision";

/** @param {string} name @param {string} source @returns {string[]} The rules that a module has. */
function rulesIn(name, source) {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replaceAll(name === "client/note.js" ? ownChange : "\0", "")
    .replace(/=>/g, "");
  return signs.filter(({ sign, except }) => !except.includes(name) && sign.test(code)).map(({ rule }) => rule);
}

test("no module but the door knows of sequences, epochs, revisions or resuming", () => {
  assert.ok(names.length > 40, `${names.length}`);
  for (const name of names) assert.deepEqual(rulesIn(name, sourceOf(name)), [], name);
});

test("a rule that is planted in a module is found", () => {
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

test("only the connection writes to the socket, and reads from it", () => {
  const users = names.filter((name) => /new WebSocket|\.onmessage|JSON\.parse\(data\)/.test(sourceOf(name)));
  assert.deepEqual(users, ["client/connection.js"]);
  assert.doesNotMatch(sourceOf("client/connection.js"), /JSON\./);
});
