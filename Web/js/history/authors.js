// Whether the text shows who wrote it. Each person's browser remembers it; what shows it is fetched when it is needed.

import { toast } from "../shell/dialogs.js";
import { messageOf } from "../words.js";
import { page } from "../page.js";
import { loadPart } from "../parts.js";
import { ownerNow } from "../session.js";
import { lastingStore } from "../storage.js";

const key = () => `parley.authors.${ownerNow()}`;
let isOn = false;
/** @type {(() => void) | undefined} */
let end;

export const showsAuthors = () => isOn;

/** The editor is there, or is another. */
export async function followAuthors() {
  end?.();
  end = undefined;
  isOn = lastingStore().getItem(key()) === "on";
  const { editor, current } = page;
  if (!isOn || !editor || !current) return;
  try {
    const { showAuthors } = await loadPart(() => import("../history/historyview.js"));
    if (isOn && page.editor === editor) end ??= showAuthors(editor.view, current);
  } catch (error) {
    toast(messageOf(error));
  }
}

export function switchAuthors() {
  try {
    if (isOn) lastingStore().removeItem(key());
    else lastingStore().setItem(key(), "on");
  } catch (error) {
    toast(messageOf(error));
  }
  void followAuthors();
}
