// Sends the text of a comment. Until the server has confirmed it, the text is stored in the tab's drawer with the key
// of its request, so that several attempts create one comment.

import { announce } from "../ground/dialogs.js";
import { RequestError } from "../client/http.js";
import { t } from "../ground/language.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {ReturnType<typeof commentSender>} CommentSender The initial text of a composer, and the functions that send
 * its text.
 */

/**
 * @param {object} options
 * @param {import("./comments.js").Comments} options.comments
 * @param {import("./unsentcomments.js").UnsentComments} options.unsent
 * @param {() => {name: string}} options.profile
 * @param {string} [options.thread] The thread of an answer; undefined for a new thread.
 */
export function commentSender({ comments, unsent, profile, thread }) {
  const name = thread ?? "";
  const kept = unsent.get(name);
  let sent = kept?.sent;
  return {
    text: kept?.text ?? "",
    /** @param {string} text The text in the field. */
    keep: (text) => unsent.keep(name, text.trim() ? { text, sent } : undefined),
    /** Discards the text. */
    drop: () => unsent.keep(name, undefined),
    /**
     * @param {string} text
     * @returns {Promise<string | undefined>} The problem as a text for the user.
     */
    async submit(text) {
      if (sent?.text !== text) {
        const body = await comments.bodyOf({ text, author: profile().name, thread });
        if (body === undefined) return t("comments.unsaved");
        if (body === null) return t("comments.rangeGone");
        sent = { text, body, key: comments.newKey() };
        // If the page is closed now, it is unknown whether the request arrived: store it before.
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
