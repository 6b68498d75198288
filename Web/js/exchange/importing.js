// Creates notes from imported drafts over HTTP: each note is created, then its text is inserted.
//
// Requests to an unreachable or busy server are repeated with the same keys, so that none is performed twice. A note
// whose text the server rejects is deleted, so that no incomplete note remains; if it cannot be deleted, `isLeft` is
// set.

import { RequestError } from "../client/http.js";
import { randomId } from "../client/identity.js";
import { ImportProblem } from "./importproblem.js";

/**
 * @typedef {import("./importreader.js").Found} Found
 * @typedef {{path: string, id?: string, title?: string, pad?: import("./importreader.js").Pad, problem?: ImportProblem | RequestError,
 *   isLeft?: boolean}} Outcome `isLeft`: an incomplete note remains.
 *
 * @typedef {object} Gateway
 * @property {typeof import("../client/http.js").request} request
 * @property {(milliseconds: number) => Promise<void>} wait
 */

/** Delays before the second and each further attempt at a request; milliseconds. */
const waits = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** Maximum UTF-16 units of one change; each is at most six bytes in JSON. */
const pieceMax = 400_000;

/**
 * @param {AsyncIterable<Found>} found
 * @param {object} options
 * @param {Gateway} options.gateway
 * @param {string} options.untitled
 * @param {string} options.author The name of the author, for servers that do not know it.
 * @param {number} options.messageBytesMax
 * @param {() => boolean} options.isStopped Called before each note and each repetition of a request.
 * @returns {AsyncGenerator<Outcome>}
 */
export async function* importNotes(found, { gateway, untitled, author, messageBytesMax, isStopped }) {
  const unitsMax = Math.min(pieceMax, Math.max(1_000, Math.floor(messageBytesMax / 8)));
  for await (const { path, draft, problem } of found) {
    if (isStopped()) return;
    if (!draft) yield { path, problem: problem ?? new ImportProblem("import.unreadable") };
    else yield await importOne(path, { ...draft, title: draft.title || untitled });
  }

  /** @param {string} path @param {import("./importreader.js").Draft} draft @returns {Promise<Outcome>} */
  async function importOne(path, { title, text, folder, pad }) {
    /** @type {string | undefined} */
    let id;
    try {
      id = /** @type {string} */ ((await ask("/api/notes", "POST", folder ? { title, folder } : { title })).id);
      let revision = 0;
      let length = 0;
      for (const piece of piecesOf(text, unitsMax)) {
        const operation = length === 0 ? [piece] : [length, piece];
        ({ revision } = await ask(`/api/notes/${encodeURIComponent(id)}/changes`, "POST", { revision, operation, author }));
        length += [...piece].length;
      }
      return { path, id, title, pad };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const isGone = id === undefined || (await ask(`/api/notes/${encodeURIComponent(id)}?author=${encodeURIComponent(author)}`, "DELETE").then(() => true, () => false));
      return { path, title, problem: error, ...(isGone ? {} : { id, isLeft: true }) };
    }
  }

  /**
   * @param {string} path
   * @param {"POST" | "DELETE"} method
   * @param {object} [body]
   */
  async function ask(path, method, body) {
    const key = randomId();
    for (let tries = 0; ; tries += 1) {
      try {
        return await gateway.request(path, method, body, undefined, key);
      } catch (error) {
        const isPassing = error instanceof RequestError && (error.status === 0 || error.status === 429 || error.status >= 500);
        if (!isPassing || tries === waits.length || isStopped()) throw error;
        await gateway.wait(waits[tries] ?? 0);
      }
    }
  }
}

/**
 * Yields the parts of a text, none of which ends within a surrogate pair.
 *
 * @param {string} text
 * @param {number} unitsMax
 */
export function* piecesOf(text, unitsMax) {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + unitsMax, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
