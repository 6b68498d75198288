// Opens and closes the note's history, as the address requests.

import { fragmentOf } from "../state/access.js";
import { commentNews, commentsOf } from "../comments/commenting.js";
import { toast } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { myName } from "../people/me.js";
import { untitled } from "../state/newnote.js";
import { page } from "../state/page.js";
import { loadPart } from "../ground/parts.js";
import { closePeople } from "../people/peoplebar.js";
import { pathOf } from "../state/routes.js";
import { profile } from "../state/session.js";

/** @type {{openHistory: typeof import("./historyview.js").openHistory, readerIn: typeof import("../editing/text.js").readerIn} | undefined} */
let parts;
let isLoading = false;

/** Loads the code of the history, then opens it if the address still requests it. */
async function load() {
  if (isLoading) return;
  isLoading = true;
  try {
    const [{ openHistory }, { readerIn }] = await loadPart(() =>
      Promise.all([import("./historyview.js"), import("../editing/text.js")]),
    );
    parts = { openHistory, readerIn };
  } catch (error) {
    console.error(error);
    toast(t("note.historyFailed"));
    leavePast();
    return;
  } finally {
    isLoading = false;
  }
  showPast();
}

/** Opens or closes the history, as the address requests. */
export function showPast() {
  const isWanted = fragmentOf(location.hash).isHistory && page.current !== undefined && page.current.hasText;
  if (isWanted === (page.past !== undefined)) return;
  if (!isWanted || !page.current) {
    page.past?.close();
    page.past = undefined;
    page.editor?.focus();
    return;
  }
  if (!parts) return void load();
  closePeople();
  page.past = parts.openHistory({
    note: page.current,
    title: () => page.current?.title || untitled,
    profile: { name: myName(), color: profile.color },
    readerIn: parts.readerIn,
    comments: { of: commentsOf, news: commentNews },
    formatted: page.editor?.kind === "rich" ? page.editor.pageOf : undefined,
    leave: leavePast,
  });
}

/** @param {string} id */
export const goToPast = (id) => {
  history.pushState({ isOwn: true }, "", pathOf(id, "history"));
  page.emit("went", undefined);
};

/** Returns to the text: back in the browser's history if the page was opened from there. */
export function leavePast() {
  if (history.state?.isOwn) history.back();
  else {
    history.replaceState(null, "", page.current ? pathOf(page.current.documentId) : location.pathname);
    showPast();
  }
}
