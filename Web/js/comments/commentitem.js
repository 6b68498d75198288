// Draws one comment: its author, its time and its text.

import { dateFormat, t } from "../ground/language.js";
import { avatar, shownName } from "../state/people.js";

const dayAndTime = dateFormat({ dateStyle: "medium", timeStyle: "short" });

/**
 * @param {import("./comments.js").Comment} comment
 * @param {string} [color] The author's colour; derived from the name if it is not given.
 */
export function commentItem(comment, color) {
  const item = document.createElement("article");
  item.className = "comment";
  item.dataset.id = comment.id;
  if (comment.withdrawn) {
    const words = document.createElement("p");
    words.className = "comment-removed";
    words.textContent = t("comments.removed");
    item.append(words);
    return item;
  }
  const name = shownName(comment.author) || t("history.somebody");
  const head = document.createElement("p");
  head.className = "comment-head";
  const author = document.createElement("strong");
  author.dir = "auto";
  author.textContent = name;
  const time = document.createElement("time");
  time.dateTime = new Date(comment.createdAt).toISOString();
  const when = dayAndTime.format(comment.createdAt);
  time.textContent = comment.editedAt === undefined ? when : t("comments.edited", { time: when });
  head.append(avatar({ name, color, clientId: name }, { label: false }), author, time);
  const text = document.createElement("p");
  text.className = "comment-text";
  text.dir = "auto";
  text.textContent = comment.text;
  item.append(head, text);
  return item;
}
