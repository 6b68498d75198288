// Answers cached for this user. The server sends an answer again only if it has changed (ETag).

import { requestUnless } from "./http.js";

/**
 * @param {Pick<import("../state/copies.js").Copies, "answer" | "keepAnswer">} copies
 * @returns {(path: string) => Promise<any>} Returns the answer to a GET.
 */
export const askingOnce = (copies) => async (path) => {
  const kept = await copies.answer(path);
  const { isSame, answer, tag } = await requestUnless(path, kept?.tag);
  if (isSame && kept) return kept.answer;
  if (tag) void copies.keepAnswer({ path, tag, answer });
  return answer;
};
