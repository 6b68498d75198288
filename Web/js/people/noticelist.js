// The dialog that lists this user's notices, with links to the notes and comments. Loaded on demand.

import { byId, openDialog } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { when } from "../state/notes.js";
import { shownName } from "../state/people.js";
import { untitled } from "../state/newnote.js";
import { pathOf } from "../state/routes.js";
import { inbox } from "../state/session.js";
import { messageOf } from "../client/words.js";

/** @typedef {import("../state/inbox.js").NoticeEntry} NoticeEntry */

/** @param {NoticeEntry} notice */
function textOf({ kind, author, title: given }) {
  const name = shownName(author) || t("history.somebody");
  const title = given || untitled;
  switch (kind) {
    case "mention":
      return t("inbox.mention", { name, title });
    case "answer":
      return t("inbox.answer", { name, title });
    case "resolved":
      return t("inbox.resolved", { name, title });
    case "shared":
      return t("inbox.shared", { title });
    default:
      // A kind that a later server has.
      return t("inbox.changed", { title });
  }
}

class NoticeList {
  #dialog = /** @type {HTMLDialogElement} */ (byId("inbox"));
  #rows = byId("inbox-list");
  #hint = byId("inbox-hint");
  #problem = byId("inbox-problem");
  #more = /** @type {HTMLButtonElement} */ (byId("inbox-more"));
  #readAll = /** @type {HTMLButtonElement} */ (byId("inbox-read-all"));
  /** @type {NoticeEntry[]} */
  #notices = [];
  /** @type {number | undefined} */
  #next;

  constructor() {
    this.#rows.replaceChildren();
    this.#problem.textContent = "";
    this.#hint.hidden = true;
    this.#more.hidden = this.#readAll.hidden = true;
    this.#more.onclick = () => void this.#attempt(() => this.#load(this.#next));
    this.#readAll.onclick = () => void this.#attempt(() => this.#markAll());
  }

  /** Lists the newest notices, or shows why they cannot be listed. */
  show() {
    return this.#attempt(() => this.#load());
  }

  /** @param {() => Promise<void>} work */
  async #attempt(work) {
    this.#problem.textContent = "";
    try {
      await work();
    } catch (error) {
      this.#problem.textContent = t("inbox.failed", { reason: messageOf(error) });
    }
  }

  /** @param {number} [before] */
  async #load(before) {
    const { notices, next } = await inbox.list(before);
    this.#notices = before === undefined ? notices : [...this.#notices, ...notices];
    this.#next = next;
    const first = this.#rows.childElementCount;
    this.#draw();
    // The button may be gone now, and with it the focus.
    if (before !== undefined) this.#rows.children[first]?.querySelector("a")?.focus();
  }

  #draw() {
    this.#rows.replaceChildren(...this.#notices.map((notice) => this.#row(notice)));
    this.#hint.hidden = this.#notices.length > 0;
    this.#more.hidden = this.#next === undefined;
    this.#readAll.hidden = !this.#notices.some(({ read }) => !read);
  }

  async #markAll() {
    const newest = this.#notices[0];
    if (!newest) return;
    await inbox.markRead({ through: newest.id });
    this.#notices = this.#notices.map((notice) => ({ ...notice, read: true }));
    this.#draw();
    this.#dialog.querySelector("a")?.focus();
  }

  /** @param {NoticeEntry} notice */
  #row(notice) {
    const { id, note, comment, createdAt, read } = notice;
    const row = document.createElement("li");
    row.className = "notice-row" + (read ? "" : " is-unread");
    const link = document.createElement("a");
    link.className = "notice-link";
    link.href = pathOf(note, comment === undefined ? undefined : `comment=${encodeURIComponent(comment)}`);
    link.dataset.link = "";
    const words = document.createElement("span");
    words.className = "notice-text";
    words.dir = "auto";
    words.textContent = textOf(notice);
    const time = document.createElement("span");
    time.className = "note-when";
    time.textContent = read ? when(createdAt) : `${t("inbox.unread")} · ${when(createdAt)}`;
    link.append(words, time);
    link.addEventListener("click", (event) => {
      if (!read) void inbox.markRead({ id }).catch(() => undefined);
      // Opened in another tab, the list stays.
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) this.#dialog.close();
    });
    row.append(link);
    return row;
  }
}

/** Shows the notices until the user closes the dialog. */
export async function showNotices() {
  const list = new NoticeList();
  const closed = openDialog(/** @type {HTMLDialogElement} */ (byId("inbox")));
  await list.show();
  await closed;
}
