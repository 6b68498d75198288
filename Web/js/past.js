// The note's history, open exactly while the address says so.

import { fragmentOf } from "./access.js";
import { openHistory } from "./historyview.js";
import { myName } from "./me.js";
import { untitled } from "./newnote.js";
import { page } from "./page.js";
import { closePeople } from "./peoplebar.js";
import { pathOf } from "./routes.js";
import { editorSheet, markdown, profile } from "./session.js";

/** Opens or closes it, as the address says. */
export function showPast() {
  const isWanted = fragmentOf(location.hash).isHistory && page.current !== undefined && page.current.hasText;
  if (isWanted === (page.past !== undefined)) return;
  if (!isWanted || !page.current) {
    page.past?.close();
    page.past = undefined;
    page.editor?.focus();
    return;
  }
  closePeople();
  page.past = openHistory({
    note: page.current,
    title: () => page.current?.title || untitled,
    profile: { name: myName(), color: profile.color },
    sheets: [editorSheet],
    markdown,
    leave: leavePast,
  });
}

/** @param {string} id */
export const goToPast = (id) => {
  history.pushState({ isOwn: true }, "", pathOf(id, "history"));
  page.emit("went", undefined);
};

/** Back to the text, by the way that led here. */
export function leavePast() {
  if (history.state?.isOwn) history.back();
  else {
    history.replaceState(null, "", page.current ? pathOf(page.current.documentId) : location.pathname);
    showPast();
  }
}
