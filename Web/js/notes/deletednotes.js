// Deleted notes, in a dialog: when each was deleted, its deleter, and a button that restores it.

import { announce, byId, confirm, icon, openDialog, toast } from "../shell/dialogs.js";
import { focusRowAt, keepFocusOn, placeOf } from "../shell/dialogfocus.js";
import { request } from "../client/http.js";
import { dateFormat, t } from "../shell/language.js";
import { untitled } from "./newnote.js";
import { when } from "./notes.js";
import { messageOf } from "../words.js";

/**
 * @typedef {{id: string, title: string, deletedAt: number, deletedBy: string, removedAt: number}} DeletedEntry
 */

const day = dateFormat({ dateStyle: "medium" });
/** Notes that are shown at first, and how many more at a time. */
const pageSize = 50;

/** Counts requests to open the dialog: while the server is slow, only the last one opens it. */
let calls = 0;

/**
 * Shows them until the person closes the dialog.
 *
 * @param {{undelete: (id: string) => Promise<boolean>}} actions
 */
export async function showDeletedNotes({ undelete }) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("deleted"));
  calls += 1;
  const call = calls;
  const rows = byId("deleted-list");
  const more = /** @type {HTMLButtonElement} */ (byId("deleted-more"));
  /** @type {string | undefined} */
  let next;

  function say() {
    byId("deleted-hint").textContent = rows.childElementCount
      ? t("deleted.hint")
      : t("deleted.none");
  }

  async function fetchMore() {
    more.disabled = true;
    try {
      await addPage();
    } finally {
      more.disabled = false;
    }
  }

  async function addPage() {
    const place = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
    /** @type {{notes: DeletedEntry[], next?: string}} */
    const answer = await request(`/api/deleted?limit=${pageSize}${place}`);
    if (call !== calls) return;
    rows.append(...answer.notes.map(row));
    next = answer.next;
    more.hidden = next === undefined;
    say();
  }

  /** @param {DeletedEntry} entry */
  function row(entry) {
    const title = entry.title || untitled;
    const item = document.createElement("li");
    item.className = "deleted-row";
    const words = document.createElement("div");
    words.className = "deleted-words";
    const name = document.createElement("span");
    name.className = "note-title" + (entry.title ? "" : " is-untitled");
    name.dir = "auto";
    name.textContent = title;
    const detail = document.createElement("span");
    detail.className = "note-when";
    const times = { when: when(entry.deletedAt), day: day.format(entry.removedAt) };
    detail.textContent = entry.deletedBy
      ? t("deleted.detailBy", { ...times, name: entry.deletedBy })
      : t("deleted.detail", times);
    words.append(name, detail);
    const back = document.createElement("button");
    back.type = "button";
    back.className = "button small";
    back.textContent = t("restore");
    back.setAttribute("aria-label", t("deleted.restore", { title }));
    back.addEventListener("click", async () => {
      back.disabled = true;
      if (await undelete(entry.id)) return dialog.close();
      back.disabled = false;
      keepFocusOn(back);
    });
    const gone = document.createElement("button");
    gone.type = "button";
    gone.className = "icon-button";
    gone.setAttribute("aria-label", t("deleted.forGoodLabel", { title }));
    gone.title = t("deleted.forGood");
    gone.append(icon("trash"));
    gone.addEventListener("click", async () => {
      const isSure = await confirm({
        title: t("deleted.forGoodTitle", { title }),
        text: t("deleted.forGoodText"),
        yes: t("deleted.forGood"),
      });
      if (!isSure) return;
      try {
        await request(`/api/deleted/${encodeURIComponent(entry.id)}`, "DELETE");
        const place = placeOf(rows, item);
        item.remove();
        focusRowAt(rows, place);
        say();
        announce(t("deleted.forGoodDone", { title }));
      } catch (error) {
        toast(t("remove.failed", { reason: messageOf(error) }));
      }
    });
    item.append(words, back, gone);
    return item;
  }

  rows.replaceChildren();
  more.onclick = () => void fetchMore().catch((error) => toast(messageOf(error)));
  await fetchMore();
  if (call === calls) await openDialog(dialog);
}
