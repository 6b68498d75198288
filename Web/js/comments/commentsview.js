// Comments beside the note: the panel with its threads, and the links between them and the text. This part is fetched
// when a note is open.

import { announce, byId } from "../shell/dialogs.js";
import { commentButton } from "./commentbutton.js";
import { Comments } from "./comments.js";
import { commentSender } from "./commentsender.js";
import { newComment } from "./newcomment.js";
import { request } from "../client/http.js";
import { randomId } from "../client/identity.js";
import { inNumbers, t } from "../shell/language.js";
import { isOfComposition } from "../shell/shortcuts.js";
import { threadView } from "./threadview.js";
import { UnsentComments } from "./unsentcomments.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("./comments.js").Thread} Thread
 * @typedef {ReturnType<typeof import("../editing/editor.js").createEditor>} Editor
 */

/**
 * @param {object} options
 * @param {import("../notes/shownnote.js").ShownNote} options.note
 * @param {Editor} options.editor
 * @param {import("../client/connection.js").Connection} options.connection
 * @param {(path: string) => Promise<any>} options.ask Requests data of which the browser may already have a copy.
 * @param {() => {name: string, color: string}} options.profile
 * @param {() => void} options.changed Called when comments have changed.
 * @param {boolean} options.isGuest Whether this person uses a link: the server cannot distinguish its guests.
 * @param {import("./unsentcomments.js").DrawerOfComments} options.drawer
 */
export function showComments({ note, editor, connection, ask, changed, profile, isGuest, drawer }) {
  const { comments: marks, view } = editor;
  const panel = byId("comments-panel");
  const button = byId("comments");
  const resolvedBox = /** @type {HTMLInputElement} */ (byId("comments-resolved"));
  const comments = new Comments({
    note,
    connection,
    request: (path, ...rest) => (rest.length === 0 ? ask(path) : request(path, ...rest)),
    newKey: randomId,
    marks: {
      moment: () => marks.moment(view),
      set: (all) => marks.set(view, all),
      marks: () => marks.marksOf(view),
    },
  });
  const unsent = new UnsentComments(drawer, note.documentId);
  /** @param {string} [thread] */
  const sender = (thread) => commentSender({ comments, unsent, profile, thread });
  const draft = newComment({ editor, comments, sending: () => sender(), redraw: draw });
  const here = commentButton({ view, isWanted: () => comments.mayComment && !draft.isBegun, begin });
  /** @type {Map<string, {thread: Thread, shown: import("./threadview.js").ThreadView}>} Threads that are drawn, by their ids. */
  const views = new Map();
  /** @type {string | undefined} The thread that is highlighted. */
  let chosen;
  /** Whether the user wants to comment without a selection. A hint asks for one until they select or close the panel. */
  let wantsSelection = false;
  /** Whether a comment was begun before the comments were there. */
  let isAwaited = false;
  resolvedBox.checked = false;

  // The panel.

  const isOpen = () => !panel.hidden;

  /** @param {boolean} isWanted */
  function open(isWanted) {
    panel.hidden = !isWanted;
    byId("app").dataset.comments = isWanted ? "open" : "";
    button.setAttribute("aria-expanded", String(isWanted));
    if (isWanted) {
      void comments.refresh();
    } else {
      wantsSelection = false;
      choose(undefined);
    }
    here.draw();
  }

  /** @param {Thread[]} threads */
  function drawButton(threads) {
    const count = threads.filter(({ first }) => !first.resolved).length;
    byId("comments-count").hidden = count === 0;
    byId("comments-count").textContent = inNumbers(count);
    const label = count === 0 ? t("comments.title") : t("comments.open", { count });
    button.setAttribute("aria-label", label);
    button.title = label;
  }

  function draw() {
    const { threads } = comments;
    drawButton(threads);
    const resolved = threads.filter(({ first }) => first.resolved).length;
    const shown = threads.filter(({ first }) => !first.resolved || resolvedBox.checked);
    byId("comments-resolved-label").hidden = resolved === 0;
    byId("comments-resolved-count").textContent = t("comments.showResolved", { count: resolved });
    const asksToSelect = wantsSelection && !draft.isBegun;
    byId("comments-none").hidden = !asksToSelect && (shown.length > 0 || draft.isBegun || !comments.isLoaded);
    byId("comments-guest").hidden = !isGuest || !comments.mayComment;
    const isBeginning = comments.mayComment && threads.length === 0;
    byId("comments-none").textContent = asksToSelect
      ? t("comments.selectFirst")
      : isBeginning
        ? t("comments.howTo")
        : t("comments.none");
    for (const id of views.keys()) if (!shown.some(({ first }) => first.id === id)) views.delete(id);
    const elements = shown.map((thread) => {
      const { id } = thread.first;
      const known = views.get(id)?.shown ?? viewOf(id);
      views.set(id, { thread, shown: known });
      known.draw(thread);
      return known.element;
    });
    const list = byId("comments-list");
    for (const element of [...list.children]) if (!elements.includes(/** @type {HTMLLIElement} */ (element))) element.remove();
    // The thread with the focus is not moved, for it would lose the focus, and a word that is being composed.
    const kept = elements.find((element) => element.contains(document.activeElement));
    elements.forEach((element, index) => {
      if (element === kept) while (list.children[index] !== kept) list.append(list.children[index] ?? "");
      else if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
    });
    drawMarks();
    here.draw();
  }

  /** @param {string} id */
  const viewOf = (id) =>
    threadView({
      id,
      comments,
      profile,
      answering: () => sender(id),
      choose: () => choose(id),
      jump: () => jump(id),
      redraw: draw,
      ended: () => button.focus(),
    });

  // The text.

  /** Which threads have a place in the text. */
  function drawMarks() {
    const placed = new Set(marks.marksOf(view).map(({ id }) => id));
    for (const { shown, thread } of views.values()) {
      const { id, place, resolved } = thread.first;
      shown.drawPlace(resolved ? !place : !placed.has(id) && !place);
    }
  }

  /** @param {string | undefined} id */
  function choose(id) {
    if (chosen === id) return;
    chosen = id;
    marks.choose(view, id);
    for (const [own, { shown }] of views) shown.drawChosen(own === id);
  }

  /**
   * Shows a comment's range in the text.
   *
   * @param {string} id
   */
  function jump(id) {
    const mark = marks.marksOf(view).find((one) => one.id === id);
    if (!mark) {
      announce(t("comments.gone"));
      return;
    }
    view.dispatch({
      selection: { anchor: mark.from, head: mark.to },
      scrollIntoView: true,
    });
    view.focus();
  }

  /** Begins a comment on the selected text, once it is known whether this person may comment. */
  function begin() {
    isAwaited = !comments.isLoaded;
    if (!comments.mayComment) return;
    const { from, to } = view.state.selection.main;
    open(true);
    wantsSelection = from === to;
    if (!wantsSelection) {
      draft.begin({ from, to });
      return;
    }
    announce(t("comments.selectFirst"));
    draw();
  }

  editor.onComments({
    moved: drawMarks,
    doubtful: () => comments.placeAnew(),
    selected: here.draw,
    clicked(id) {
      open(true);
      const element = views.get(id)?.shown.element;
      element?.focus();
      element?.scrollIntoView({ block: "nearest" });
    },
  });
  const subscriptions = [
    comments.on("changed", () => {
      draw();
      changed();
      if (isAwaited && comments.isLoaded) begin();
    }),
    comments.on("failed", (error) => {
      if (!comments.isLoaded && isOpen()) byId("comments-none").textContent = t("comments.listFailed", { reason: messageOf(error) });
    }),
    connection.on("welcome", () => {
      draft.retry();
      for (const { shown } of views.values()) shown.retry();
    }),
  ];

  button.onclick = () => {
    open(!isOpen());
    if (isOpen()) byId("comments-close").focus();
  };
  byId("comments-close").onclick = () => {
    open(false);
    button.focus();
  };
  panel.onkeydown = (event) => {
    if (event.key !== "Escape" || isOfComposition(event)) return;
    open(false);
    view.focus();
  };
  resolvedBox.onchange = draw;
  button.hidden = false;
  draw();

  return {
    begin,
    get mayComment() {
      return comments.mayComment;
    },
    get answer() {
      return comments.answer;
    },
    get note() {
      return note;
    },
    get editor() {
      return editor;
    },
    close() {
      for (const unsubscribe of subscriptions) unsubscribe();
      editor.onComments(undefined);
      comments.close();
      here.close();
      open(false);
      draft.close();
      byId("comments-list").replaceChildren();
      button.onclick = resolvedBox.onchange = panel.onkeydown = null;
    },
  };
}
