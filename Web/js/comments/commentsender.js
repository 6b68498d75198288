// Sends the words of a comment once, however often that is tried: until the server has them, they are kept in the tab's
// drawer, with the key under which they went out.

import { announce } from "../shell/dialogs.js";
import { RequestError } from "../client/http.js";
import { t } from "../shell/language.js";
import { messageOf } from "../words.js";

/**
 * @typedef {ReturnType<typeof commentSender>} CommentSender For a composer: its first text, and where it sends its text.
 */

/**
 * @param {object} options
 * @param {import("./comments.js").Comments} options.comments
 * @param {import("./unsentcomments.js").UnsentComments} options.unsent
 * @param {() => {name: string}} options.profile
 * @param {string} [options.thread] That it answers in; a new one otherwise.
 */
export function commentSender({ comments, unsent, profile, thread }) {
  const name = thread ?? "";
  const kept = unsent.get(name);
  let sent = kept?.sent;
  return {
    text: kept?.text ?? "",
    /** @param {string} text That is in the field now. */
    keep: (text) => unsent.keep(name, text.trim() ? { text, sent } : undefined),
    /** The words are given up. */
    drop: () => unsent.keep(name, undefined),
    /**
     * @param {string} text
     * @returns {Promise<string | undefined>} A problem in words.
     */
    async submit(text) {
      if (sent?.text !== text) {
        const body = await comments.bodyOf({ text, author: profile().name, thread });
        if (body === undefined) return t("comments.unsaved");
        if (body === null) return t("comments.rangeGone");
        sent = { text, body, key: comments.newKey() };
        // Whether it arrives, a page that goes away meanwhile does not hear.
        unsent.keep(name, { text, sent });
      }
      await comments.make(sent.body, sent.key);
      sent = undefined;
      unsent.keep(name, undefined);
      announce(t("comments.made"));
      return undefined;
    },
    /** @param {unknown} error */
    failed(error) {
      const status = error instanceof RequestError ? error.status : 0;
      const isOpen = status === 0 || status >= 500;
      if (!isOpen) {
        sent = undefined;
        const text = unsent.get(name)?.text;
        if (text) unsent.keep(name, { text });
      }
      return {
        problem: isOpen ? t("comments.waiting") : t("comments.notSent", { reason: messageOf(error) }),
        isOpen,
      };
    },
  };
}
