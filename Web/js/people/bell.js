// The button beside the name of the page that shows how many notices are unread, and opens their list.

import { byId, toast } from "../ground/dialogs.js";
import { inNumbers, t } from "../ground/language.js";
import { loadPart } from "../ground/parts.js";
import { inbox } from "../state/session.js";

function drawBell() {
  const button = byId("bell");
  const { unread: count } = inbox;
  button.hidden = !inbox.isOffered;
  byId("bell-count").hidden = count === 0;
  byId("bell-count").textContent = count > 99 ? `${inNumbers(99)}+` : inNumbers(count);
  const label = count === 0 ? t("inbox.title") : t("inbox.openUnread", { count });
  button.setAttribute("aria-label", label);
  button.title = label;
}

async function open() {
  try {
    const { showNotices } = await loadPart(() => import("./noticelist.js"));
    await showNotices();
  } catch (error) {
    console.error(error);
    toast(t("page.failed"));
  }
}

export function setUpBell() {
  byId("bell").addEventListener("click", () => void open());
  inbox.on("changed", drawBell);
  drawBell();
}
