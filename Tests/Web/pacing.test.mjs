// Changes of others in quick succession are handled together, and the editor always shows the note's text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesEvery } from "../../Web/js/client/pacing.js";
import { Random, joinedWith, newCore, randomPosition, randomText } from "./support.mjs";

/** The server's side of the note "d", with a crowd that types. */
class Crowd {
  /** @type {string[]} The operations since revision 7, as JSON text. */
  log = [];
  #core = newCore();
  #answered = 0;

  /** @param {string} text */
  constructor(text) {
    this.opened = joinedWith(text, { numbers: { document: 3, time: 0, authors: [{ number: 16, clientId: "bo" }] } });
    this.scalars = [...text];
  }

  /** @param {string} operation JSON text. */
  #add(operation) {
    this.log.push(operation);
    let place = 0;
    for (const part of /** @type {(string | number)[]} */ (JSON.parse(operation))) {
      if (typeof part === "string") {
        this.scalars.splice(place, 0, ...part);
        place += [...part].length;
      }
      else if (part > 0) place += part;
      else this.scalars.splice(place, -part);
    }
  }

  get revision() {
    return 7 + this.log.length;
  }

  get length() {
    return this.scalars.length;
  }

  /** @param {(string | number)[][]} operations One after the other, in one message. */
  type(...operations) {
    const items = operations.flatMap((operation, index) => [16, this.log.length + index + 1, operation]);
    const message = { type: "c", data: { c: [3, this.revision + 1, 0, ...items] } };
    for (const operation of operations) this.#add(JSON.stringify(operation));
    this.opened.line.receive(JSON.stringify(message));
  }

  /**
   * An operation that inserts text, or deletes a scalar for "".
   *
   * @param {number} place
   * @param {string} insert
   */
  inserting(place, insert, length = this.length) {
    return [place, insert || -1, length - place - (insert ? 0 : 1)].filter((part) => part !== 0);
  }

  /** Commits and acknowledges the change in flight, if there is one. */
  answer() {
    const { line } = this.opened;
    const data = line.last("change")?.data;
    if (!data || data.sequence === this.#answered) return false;
    this.#answered = data.sequence;
    let operation = JSON.stringify(data.operation);
    for (const other of this.log.slice(data.revision - 7)) operation = this.#core.transform(other, operation).rightAfterLeft;
    this.#add(operation);
    line.tell("acknowledged", { sequence: data.sequence, revision: this.revision });
    return true;
  }
}

/** Counts the changes that the editor draws. @param {Crowd} crowd */
function drawn(crowd) {
  /** @type {string[]} */
  const inserts = [];
  crowd.opened.note.on("changes", ({ changes }) => inserts.push(changes.map(({ insert }) => insert).join("|")));
  return inserts;
}

test("the first change is shown at once, changes soon after it together, and a later one at once", () => {
  const crowd = new Crowd("abc\n");
  const { line } = crowd.opened;
  const inserts = drawn(crowd);
  crowd.type(crowd.inserting(0, "1"));
  line.pass(10);
  crowd.type(crowd.inserting(1, "2"));
  crowd.type(crowd.inserting(5, "3"));
  assert.deepEqual(inserts, ["1"]);
  line.pass(changesEvery - 11);
  assert.deepEqual(inserts, ["1"]);
  line.pass(1);
  assert.deepEqual(inserts, ["1", "2|3"]);
  assert.equal(crowd.opened.screen.text, "12abc3\n");
  line.pass(changesEvery);
  crowd.type(crowd.inserting(0, "4"));
  assert.deepEqual(inserts, ["1", "2|3", "4"]);
  // A hidden page does not delay changes.
  line.isSeen = false;
  crowd.type(crowd.inserting(0, "5"));
  assert.deepEqual(inserts.slice(3), ["5"]);
  assert.equal(line.timers.some(({ at }) => at <= line.now + changesEvery), false);
});

test("all other messages are handled at once and in order, after the delayed changes", () => {
  const crowd = new Crowd("abc\n");
  const { line, note, screen, type } = crowd.opened;
  crowd.type(crowd.inserting(0, "1"));
  type(4, "X");
  crowd.type(crowd.inserting(0, "2"));
  assert.equal(screen.text, "1abcX\n");
  assert.ok(crowd.answer());
  assert.equal(note.unconfirmedCount, 0);
  assert.equal(screen.text, "21abcX\n");
  crowd.type(crowd.inserting(0, "3"));
  line.tell("documentChanged", { title: "Another", deleted: false });
  assert.equal(note.title, "Another");
  assert.equal(screen.text, "321abcX\n");
  // A message with several changes may contain the change in flight.
  crowd.type(crowd.inserting(0, "4"), crowd.inserting(0, "5", 9));
  assert.equal(screen.text, "321abcX\n");
  type(7, "Y");
  crowd.type(crowd.inserting(0, "6"), crowd.inserting(0, "7", 11));
  assert.equal(screen.text, "7654321abcXY\n");
});

test("delayed changes are shown when the connection is lost, but not while a request holds them", async () => {
  const crowd = new Crowd("abc\n");
  const { line, note, screen } = crowd.opened;
  crowd.type(crowd.inserting(0, "1"));
  crowd.type(crowd.inserting(0, "2"));
  let answer = (/** @type {number} */ _revision) => {};
  const done = note.makeOwn(() => new Promise((resolve) => (answer = resolve)));
  line.pass(changesEvery);
  assert.equal(screen.text, "1abc\n");
  answer(9);
  await done;
  assert.equal(screen.text, "21abc\n");
  crowd.type(crowd.inserting(0, "3"));
  line.lose();
  assert.equal(screen.text, "321abc\n");
});

test("the editor always shows the note's text, and finally the server's", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = new Random(seed);
    const crowd = new Crowd(`${randomText(random, 6)}\n`);
    const { line, note, screen, type } = crowd.opened;
    const check = () => assert.equal(screen.text, note.text, `seed ${seed}`);
    for (const event of /** @type {const} */ (["changes", "people", "peers", "status"])) note.on(event, check);
    const steps = [
      () => crowd.type(crowd.inserting(random.below(crowd.length + 1), random.pick(["a", "[", "😀", "\n", "],1,"]))),
      () => crowd.length > 0 && crowd.type(crowd.inserting(random.below(crowd.length), "")),
      () => type(randomPosition(random, screen.text), random.pick(["Ann", "字", "\n"])),
      () => crowd.answer(),
      () => line.pass(random.below(60)),
      () => line.tell("selections", { revision: crowd.revision, clientId: "bo", selections: [[0, 0]] }),
      () => note.select(0, 0),
    ];
    for (let step = 0; step < 40; step += 1) {
      random.pick(steps)();
      check();
    }
    line.pass(changesEvery);
    while (crowd.answer()) check();
    assert.equal(note.unconfirmedCount, 0, `seed ${seed}`);
    assert.equal(screen.text, crowd.scalars.join(""), `seed ${seed}`);
  }
});
