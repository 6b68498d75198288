// Whether Markdown's signs are drawn in the text: as boxes, bullets and pictures, or hidden. This browser remembers it.

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
    // Then the choice lasts until the page is closed.
  }
  page.emit("drawn", undefined);
}
