// The switch that shows who wrote the text. The browser stores it for each user; the code is loaded on demand.

import { toast } from "../ground/dialogs.js";
import { messageOf } from "../client/words.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { ownerNow } from "../state/session.js";
import { lastingStore } from "../ground/storage.js";

const key = () => `parley.authors.${ownerNow()}`;
let isOn = false;
/** @type {(() => void) | undefined} */
let end;

export const showsAuthors = () => isOn;

/** Shows the authors in a new or replaced editor, if the switch is on. */
export async function followAuthors() {
  end?.();
  end = undefined;
  isOn = lastingStore().getItem(key()) === "on";
  const { editor, current } = page;
  if (!isOn || editor?.kind !== "plain" || !current) return;
  try {
    const { showAuthors } = await loadPart(() => import("./historyview.js"));
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
