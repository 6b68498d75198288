// The dialog that lists where this user is signed in, and signs out there. Loaded on demand.

import { byId, openDialog, toast } from "../ground/dialogs.js";
import { focusRowAt, placeOf } from "../ground/dialogfocus.js";
import { request } from "../client/http.js";
import { t } from "../ground/language.js";
import { when } from "../state/notes.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {{id: string, browser: string, system: string, begunAt: number, usedAt: number, expiresAt: number,
 *   current: boolean}} Device
 */

/** @param {Device} device */
function nameOf({ browser, system }) {
  if (browser && system) return t("devices.name", { browser, system });
  return browser || system || t("devices.unknown");
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
function words(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/** @param {Device} device */
function descriptionOf(device) {
  const title = words("span", "note-title", nameOf(device));
  title.dir = "auto";
  const description = words("div", "deleted-words", "");
  const times = t("devices.times", { used: when(device.usedAt), begun: when(device.begunAt) });
  description.append(title, words("span", "note-when", times));
  return description;
}

/** The list in the dialog: a row for each device, this one without a button. */
class DeviceList {
  #rows = byId("devices-list");
  #others = /** @type {HTMLButtonElement} */ (byId("devices-end-others"));
  #problem = byId("devices-problem");

  constructor() {
    this.#rows.replaceChildren();
    this.#others.hidden = true;
    this.#others.onclick = () => void this.#end("/api/sessions", t("devices.othersEnded"), this.#others);
    this.#problem.textContent = "";
  }

  /** Lists the devices, or shows why they cannot be listed. */
  async show() {
    try {
      await this.#draw();
    } catch (error) {
      this.#problem.textContent = t("devices.listFailed", { reason: messageOf(error) });
    }
  }

  async #draw() {
    /** @type {{sessions: Device[]}} */
    const { sessions } = await request("/api/sessions");
    this.#rows.replaceChildren(...sessions.map((device) => this.#row(device)));
    byId("devices-hint").textContent = sessions.length > 0 ? t("devices.hint") : t("devices.none");
    this.#others.hidden = !sessions.some(({ current }) => !current);
  }

  /** @param {Device} device */
  #row(device) {
    const row = words("li", "deleted-row", "");
    const mark = device.current ? words("span", "device-here", t("devices.this")) : this.#endButton(device);
    row.append(descriptionOf(device), mark);
    return row;
  }

  /** @param {Device} device */
  #endButton(device) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = t("devices.end");
    button.setAttribute("aria-label", t("devices.endLabel", { device: nameOf(device) }));
    const path = `/api/sessions/${encodeURIComponent(device.id)}`;
    button.addEventListener("click", () => void this.#end(path, t("devices.ended"), button));
    return button;
  }

  /**
   * Signs out one device or several.
   *
   * @param {string} path
   * @param {string} done The message after success.
   * @param {HTMLButtonElement} button
   */
  async #end(path, done, button) {
    // A disabled button loses the focus.
    const row = button.closest("li");
    const place = row ? placeOf(this.#rows, row) : this.#rows.childElementCount;
    button.disabled = true;
    this.#problem.textContent = "";
    try {
      await request(path, "DELETE");
      await this.#draw();
      toast(done);
    } catch (error) {
      this.#problem.textContent = t("devices.endFailed", { reason: messageOf(error) });
    } finally {
      button.disabled = false;
    }
    focusRowAt(this.#rows, place);
  }
}

/** Shows the devices until the user closes the dialog. */
export async function showDevices() {
  const devices = new DeviceList();
  const closed = openDialog(/** @type {HTMLDialogElement} */ (byId("devices")));
  await devices.show();
  await closed;
}
