// Answers that the browser keeps for this person, and that the server sends again only if they have changed.

import { requestUnless } from "./http.js";

/**
 * @param {Pick<import("../state/copies.js").Copies, "answer" | "keepAnswer">} copies
 * @returns {(path: string) => Promise<any>} The answer to GET.
 */
export const askingOnce = (copies) => async (path) => {
  const kept = await copies.answer(path);
  const { isSame, answer, tag } = await requestUnless(path, kept?.tag);
  if (isSame && kept) return kept.answer;
  if (tag) void copies.keepAnswer({ path, tag, answer });
  return answer;
};
