// A queue of drawings for a frame that is closed when a drawing takes too long.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DrawingQueue } from "../../Web/js/reading/drawingqueue.js";

/**
 * Returns a queue whose frames answer with `answers`, and the numbers of frames and drawings.
 *
 * @param {Record<string, unknown>} answers
 */
function queueOf(answers, timeMax = 5) {
  const counts = { opened: 0, ended: 0, sent: 0 };
  const queue = new DrawingQueue({
    timeMax,
    open(receive, fail) {
      counts.opened += 1;
      setImmediate(() => (answers.none ? fail() : receive("ready")));
      return {
        send({ source }) {
          counts.sent += 1;
          if (source in answers) setImmediate(() => receive(answers[source]));
        },
        end: () => void (counts.ended += 1),
      };
    },
  });
  return { queue, counts };
}

test("one frame draws all sources, and each source once", async () => {
  const { queue, counts } = queueOf({ a: { drawn: "A" }, b: { problem: "B" } }, 1_000);
  const given = await Promise.all(["a", "b", "a"].map((source) => queue.draw({ source })));
  assert.deepEqual(given, [{ drawn: "A" }, { problem: "B" }, { drawn: "A" }]);
  assert.deepEqual(counts, { opened: 1, ended: 0, sent: 2 });
});

test("a frame that does not answer is closed, and a new frame draws the other sources", async () => {
  const { queue, counts } = queueOf({ a: { drawn: "A" } });
  assert.deepEqual(await Promise.all(["endless", "a"].map((source) => queue.draw({ source }))), ["late", { drawn: "A" }]);
  assert.deepEqual(counts, { opened: 2, ended: 1, sent: 2 });
});

test("after twenty closed frames, further drawings fail as stopped", async () => {
  const { queue, counts } = queueOf({}, 1);
  const given = await Promise.all(Array.from({ length: 50 }, (_, source) => queue.draw({ source: `endless ${source}` })));
  assert.deepEqual(given, [...Array(20).fill("late"), ...Array(30).fill("stopped")]);
  assert.deepEqual([counts.opened, counts.ended], [20, 20]);
});

test("a drawing fails if the frame cannot be loaded, and is retried at the next request", async () => {
  /** @type {Record<string, unknown>} */
  const answers = { none: true, a: { drawn: "A" } };
  const { queue } = queueOf(answers, 1_000);
  assert.equal(await queue.draw({ source: "a" }), "failed");
  delete answers.none;
  assert.deepEqual(await queue.draw({ source: "a" }), { drawn: "A" });
});
