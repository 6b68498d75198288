// Where this person is signed in, in a dialog, and how they sign out there. A part that is fetched when it is needed.

import { byId, openDialog, toast } from "../shell/dialogs.js";
import { focusRowAt, placeOf } from "../shell/dialogfocus.js";
import { request } from "../client/http.js";
import { t } from "../shell/language.js";
import { when } from "../notes/notes.js";
import { messageOf } from "../words.js";

/**
 * @typedef {{id: string, browser: string, system: string, begunAt: number, usedAt: number, expiresAt: number,
 *   current: boolean}} Device
 */

/** @param {Device} device */
function nameOf({ browser, system }) {
  if (browser && system) return t("devices.name", { browser, system });
  return browser || system || t("devices.unknown");
}

/** Shows them until the person closes the dialog. */
export async function showDevices() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("devices"));
  const rows = byId("devices-list");
  const others = /** @type {HTMLButtonElement} */ (byId("devices-end-others"));
  rows.replaceChildren();
  others.hidden = true;
  say("");

  /** @param {string} text */
  function say(text) {
    byId("devices-problem").textContent = text;
  }

  async function draw() {
    /** @type {{sessions: Device[]}} */
    const { sessions } = await request("/api/sessions");
    rows.replaceChildren(...sessions.map(row));
    byId("devices-hint").textContent = sessions.length > 0 ? t("devices.hint") : t("devices.none");
    others.hidden = !sessions.some(({ current }) => !current);
  }

  /**
   * @param {string} path
   * @param {string} done What to say then.
   * @param {HTMLButtonElement} button
   */
  async function end(path, done, button) {
    // A button that is disabled loses the focus.
    const row = button.closest("li");
    const place = row ? placeOf(rows, row) : rows.childElementCount;
    button.disabled = true;
    say("");
    try {
      await request(path, "DELETE");
      await draw();
      toast(done);
    } catch (error) {
      say(t("devices.endFailed", { reason: messageOf(error) }));
    } finally {
      button.disabled = false;
    }
    focusRowAt(rows, place);
  }

  /** @param {Device} device */
  function row(device) {
    const name = nameOf(device);
    const item = document.createElement("li");
    item.className = "deleted-row";
    const words = document.createElement("div");
    words.className = "deleted-words";
    const title = document.createElement("span");
    title.className = "note-title";
    title.dir = "auto";
    title.textContent = name;
    const detail = document.createElement("span");
    detail.className = "note-when";
    detail.textContent = t("devices.times", { used: when(device.usedAt), begun: when(device.begunAt) });
    words.append(title, detail);
    item.append(words);
    if (device.current) {
      const mark = document.createElement("span");
      mark.className = "device-here";
      mark.textContent = t("devices.this");
      item.append(mark);
      return item;
    }
    const out = document.createElement("button");
    out.type = "button";
    out.className = "button small";
    out.textContent = t("devices.end");
    out.setAttribute("aria-label", t("devices.endLabel", { device: name }));
    out.addEventListener("click", () => void end(`/api/sessions/${encodeURIComponent(device.id)}`, t("devices.ended"), out));
    item.append(out);
    return item;
  }

  others.onclick = () => void end("/api/sessions", t("devices.othersEnded"), others);
  const closed = openDialog(dialog);
  try {
    await draw();
  } catch (error) {
    say(t("devices.listFailed", { reason: messageOf(error) }));
  }
  await closed;
}
