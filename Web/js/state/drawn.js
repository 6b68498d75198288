// Whether Markdown marks are drawn in the text (as boxes, bullets and pictures, or hidden). Stored by this browser.

import { page } from "./page.js";
import { lastingStore } from "../ground/storage.js";

const key = "parley.drawn";
let isOn = lastingStore().getItem(key) !== "off";

export const isDrawn = () => isOn;

export function switchDrawn() {
  isOn = !isOn;
  try {
    if (isOn) lastingStore().removeItem(key);
    else lastingStore().setItem(key, "off");
  } catch {
    // The storage is full: the choice lasts until the page is closed.
  }
  page.emit("drawn", undefined);
}
