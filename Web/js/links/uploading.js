// Uploads of files to a note.

import { RequestError, request } from "../client/http.js";
import { messageOf } from "../client/words.js";
import { t } from "../ground/language.js";

/**
 * Returns a size in megabytes, for messages.
 *
 * @param {number} bytes
 */
const megabytes = (bytes) => Math.max(1, Math.floor(bytes / (1 << 20)));

/** @type {number | undefined} The maximum bytes of a file, from the server. */
let bytesMax;

/**
 * @param {string} note
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<{path: string, name: string, picture: boolean}>}
 */
export async function upload(note, file, signal) {
  const path = `/api/notes/${encodeURIComponent(note)}/files`;
  const ask = async () => (bytesMax = (await request(path, "GET", undefined, signal)).bytesMax);
  // Check here, because a browser may not read a rejection that arrives while it still sends a large file.
  check(file, bytesMax ?? (await ask()));
  try {
    return await request(`${path}?name=${encodeURIComponent(file.name)}`, "POST", file, signal);
  } catch (error) {
    // The server's limit may have been lowered.
    if (!signal.aborted && error instanceof RequestError && [0, 413].includes(error.status)) check(file, await ask());
    throw error;
  }
}

/** @param {File} file @param {number | undefined} limit The server's maximum bytes; 0 if it accepts no files. */
function check(file, limit) {
  if (limit === 0) throw new Error(t("file.notTaken"));
  if (file.size === 0) throw new Error(t("file.empty"));
  if (limit !== undefined && file.size > limit) {
    throw new Error(t("file.tooLarge", { limit: megabytes(limit), size: megabytes(file.size) }));
  }
}

/** @param {unknown} error @returns {string} Why a file was not added. */
export function reasonOf(error) {
  if (!(error instanceof RequestError)) return error instanceof Error && error.message ? error.message : messageOf(error);
  if (error.status === 0) return t("file.offline");
  if (error.code === "tooMany") return t("file.noteFull");
  return error.message;
}
