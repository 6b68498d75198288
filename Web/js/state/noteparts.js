// The list of notes. The server sends it in parts: first all of them, then those that have changed.

/**
 * @typedef {import("./notes.js").NoteEntry} NoteEntry
 * @typedef {object} HeldList The list as the server sent it.
 * @property {string} [tag] The ETag of the whole list.
 * @property {string[]} digests The digests of the parts; empty if the server sends the list as a whole.
 * @property {NoteEntry[][]} parts
 * @property {boolean} mayCreate
 * @property {number} deletedAgeMax
 * @property {boolean} isCut
 */

/** @param {HeldList} list @returns {NoteEntry[]} Newest change first. */
export const notesOf = ({ parts }) =>
  parts.flat().sort((a, b) => Number(b.updatedAt) - Number(a.updatedAt) || (a.id < b.id ? -1 : 1));

/** @param {string[]} [digests] @returns {string} The path of the parts of the list that differ from these. */
export const pathOfParts = (digests = []) => `/api/notes?parts=${digests.join("")}`;

/**
 * Returns the list with an answer of the server applied.
 *
 * @param {HeldList | undefined} held
 * @param {any} answer Contains the parts that differ from the held ones; an older server's contains all notes.
 * @param {string} [tag]
 * @returns {HeldList}
 */
export function merged(held, answer, tag) {
  const { count = 0, parts: sent = [], mayCreate = true, deletedAgeMax = 0, more: isCut = false } = answer;
  const former = held?.digests.length === count ? held : undefined;
  /** @type {string[]} */
  const digests = former ? [...former.digests] : Array(count).fill("");
  /** @type {NoteEntry[][]} */
  const parts = answer.notes ? [answer.notes] : former ? [...former.parts] : digests.map(() => []);
  let next = 0;
  const rich = new Set(answer.rich);
  for (const [index, digest, size] of sent) {
    digests[index] = digest;
    parts[index] = Array.from({ length: size }, () => noteAt(answer, next++, rich));
  }
  return { tag, digests, parts, mayCreate, deletedAgeMax, isCut };
}

/** @param {any} answer The notes, column by column. @param {number} at @param {Set<number>} rich @returns {NoteEntry} */
function noteAt({ ids, titles, revisions, createdAt, updatedAt, folders, may, rights }, at, rich) {
  const note = { id: ids[at], title: titles[at], revision: revisions[at], createdAt: createdAt[at], updatedAt: updatedAt[at], may: may[rights[at]] };
  return { ...note, ...(folders[at] && { folder: folders[at] }), ...(rich.has(at) && { kind: "rich" }) };
}
