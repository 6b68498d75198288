// Comments beside the note: threads that can be answered, ended and begun again, and the way from them to the text and
// back. This part is fetched when a note is open.

import { announce, byId, confirm, icon } from "../shell/dialogs.js";
import { Comments } from "./comments.js";
import { commentItem } from "./commentitem.js";
import { composer } from "./composer.js";
import { request, RequestError } from "../client/http.js";
import { randomId } from "../client/identity.js";
import { inNumbers, t } from "../shell/language.js";
import { colorHere } from "../people/me.js";
import { shownName } from "../people/people.js";
import { UnsentComments } from "./unsentcomments.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("./comments.js").Comment} Comment
 * @typedef {import("./comments.js").Thread} Thread
 * @typedef {ReturnType<typeof import("../editing/editor.js").createEditor>} Editor
 * @typedef {ReturnType<typeof composer>} Composer
 * @typedef {{element: HTMLElement, thread: Thread, answer: Composer | undefined, editing: string | undefined}} View
 */

/**
 * @param {object} options
 * @param {import("../client/note.js").Note} options.note
 * @param {Editor} options.editor
 * @param {import("../client/connection.js").Connection} options.connection
 * @param {() => {name: string, color: string}} options.profile
 * @param {boolean} options.isGuest Whether this person comes by a link: the server tells its guests apart by nothing.
 * @param {import("./unsentcomments.js").DrawerOfComments} options.drawer
 */
export function showComments({ note, editor, connection, profile, isGuest, drawer }) {
  const { comments: marks, view } = editor;
  const panel = byId("comments-panel");
  const button = byId("comments");
  const here = byId("comment-here");
  const resolvedBox = /** @type {HTMLInputElement} */ (byId("comments-resolved"));
  const comments = new Comments({
    note,
    connection,
    request,
    newKey: randomId,
    marks: {
      moment: () => marks.moment(view),
      set: (all) => marks.set(view, all),
      marks: () => marks.marksOf(view),
    },
  });
  /** @type {Map<string, View>} Threads that are drawn, by their ids. */
  const views = new Map();
  /** @type {Composer | undefined} Of a new comment. */
  let draft;
  const unsent = new UnsentComments(drawer, note.documentId);
  /** @type {string | undefined} The thread that stands out. */
  let chosen;
  resolvedBox.checked = false;

  // The panel.

  const isOpen = () => !panel.hidden;

  /** @param {boolean} isWanted */
  function open(isWanted) {
    panel.hidden = !isWanted;
    byId("app").dataset.comments = isWanted ? "open" : "";
    button.setAttribute("aria-expanded", String(isWanted));
    if (isWanted) void comments.refresh();
    else choose(undefined);
    drawHere();
  }

  function drawButton() {
    const count = comments.threads.filter(({ first }) => !first.resolved).length;
    byId("comments-count").hidden = count === 0;
    byId("comments-count").textContent = inNumbers(count);
    const label = count === 0 ? t("comments.title") : t("comments.open", { count });
    button.setAttribute("aria-label", label);
    button.title = label;
  }

  // Threads.

  function draw() {
    drawButton();
    const { threads } = comments;
    const resolved = threads.filter(({ first }) => first.resolved).length;
    const shown = threads.filter(({ first }) => !first.resolved || resolvedBox.checked);
    byId("comments-resolved-label").hidden = resolved === 0;
    byId("comments-resolved-count").textContent = t("comments.showResolved", { count: resolved });
    byId("comments-none").hidden = shown.length > 0 || draft !== undefined || !comments.isLoaded;
    byId("comments-guest").hidden = !isGuest || !comments.mayComment;
    const isBeginning = comments.mayComment && threads.length === 0;
    byId("comments-none").textContent = isBeginning ? t("comments.howTo") : t("comments.none");
    for (const id of views.keys()) if (!shown.some(({ first }) => first.id === id)) views.delete(id);
    const list = byId("comments-list");
    const elements = shown.map((thread) => {
      const known = views.get(thread.first.id) ?? newView(thread);
      known.thread = thread;
      drawThread(known);
      return known.element;
    });
    // What is where it was stays there, and with it the focus.
    for (const element of [...list.children]) if (!elements.includes(/** @type {HTMLElement} */ (element))) element.remove();
    elements.forEach((element, index) => {
      if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
    });
    drawMarks();
    drawHere();
  }

  /**
   * @param {Thread} thread
   * @returns {View}
   */
  function newView(thread) {
    const element = document.createElement("li");
    element.className = "thread";
    element.dataset.id = thread.first.id;
    element.tabIndex = -1;
    element.addEventListener("focusin", () => choose(thread.first.id));
    const quote = document.createElement("button");
    quote.type = "button";
    quote.className = "quote";
    quote.addEventListener("click", () => jump(thread.first.id));
    const gone = document.createElement("p");
    gone.className = "thread-gone";
    gone.textContent = t("comments.gone");
    const body = document.createElement("div");
    body.className = "thread-body";
    element.append(quote, gone, body);
    /** @type {View} */
    const own = { element, thread, answer: undefined, editing: undefined };
    views.set(thread.first.id, own);
    return own;
  }

  /** @param {View} own */
  function drawThread(own) {
    const { element, thread } = own;
    const { first, answers } = thread;
    const [quote, , body] = element.children;
    if (!(quote instanceof HTMLElement) || !body) return;
    quote.textContent = first.made?.quote ?? "";
    quote.dir = "auto";
    quote.setAttribute("aria-label", t("comments.show", { quote: first.made?.quote ?? "" }));
    element.classList.toggle("is-resolved", first.resolved !== undefined);
    // The words that somebody edits stay as they are.
    const kept = own.editing === undefined ? undefined : body.querySelector(`[data-id="${CSS.escape(own.editing)}"]`);
    const focused = body.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.action : undefined;
    const items = [first, ...answers].map((comment) =>
      kept && comment.id === own.editing ? /** @type {HTMLElement} */ (kept) : itemOf(own, comment),
    );
    const foot = document.createElement("p");
    foot.className = "thread-foot";
    if (first.resolved) {
      const words = document.createElement("span");
      words.textContent = t("comments.resolvedBy", { name: shownName(first.resolved.by) || t("history.somebody") });
      foot.append(words);
    }
    if (comments.mayComment) {
      const isResolved = first.resolved !== undefined;
      foot.append(
        action(isResolved ? t("comments.reopen") : t("comments.resolve"), `resolve-${first.id}`, () =>
          attempt(own, async () => {
            await comments.change(first.id, { resolved: !isResolved, author: profile().name });
            announce(isResolved ? t("comments.reopened") : t("comments.resolved"));
          }),
        ),
      );
      if (!own.answer) {
        own.answer = answerTo(first.id);
        element.append(own.answer.element);
      }
    }
    if (own.answer) own.answer.element.hidden = !comments.mayComment;
    const trouble = body.querySelector(".thread-problem") ?? problemLine();
    for (const child of [...body.children]) if (child !== kept && child !== trouble) child.remove();
    for (const item of [...items, foot]) body.append(item);
    body.append(trouble);
    if (focused) /** @type {HTMLElement | null} */ (body.querySelector(`[data-action="${CSS.escape(focused)}"]`))?.focus();
  }

  function problemLine() {
    const line = document.createElement("p");
    line.className = "problem thread-problem";
    line.setAttribute("role", "alert");
    return line;
  }

  /**
   * @param {string} label
   * @param {string} name Tells it from others.
   * @param {() => void} run
   */
  function action(label, name, run) {
    const element = document.createElement("button");
    element.type = "button";
    element.className = "link-button";
    element.dataset.action = name;
    element.textContent = label;
    element.addEventListener("click", run);
    return element;
  }

  /**
   * @param {View} own
   * @param {Comment} comment
   */
  function itemOf(own, comment) {
    const item = commentItem(comment, colorHere(comment.author));
    if (comment.mine && !comment.withdrawn && comments.mayComment) {
      const foot = document.createElement("p");
      foot.className = "comment-foot";
      foot.append(
        action(t("comments.edit"), `edit-${comment.id}`, () => edit(own, comment)),
        action(t("comments.remove"), `remove-${comment.id}`, () => void remove(own, comment)),
      );
      item.append(foot);
    }
    return item;
  }

  /**
   * @param {View} own
   * @param {() => Promise<void>} work
   */
  async function attempt(own, work) {
    const line = own.element.querySelector(".thread-problem");
    if (line) line.textContent = "";
    try {
      await work();
    } catch (error) {
      if (line) line.textContent = t("comments.failed", { reason: messageOf(error) });
    }
  }

  /**
   * @param {View} own
   * @param {Comment} comment
   */
  function edit(own, comment) {
    const item = own.element.querySelector(`[data-id="${CSS.escape(comment.id)}"]`);
    if (!item || own.editing !== undefined) return;
    own.editing = comment.id;
    const end = () => {
      own.editing = undefined;
      draw();
      /** @type {HTMLElement | null} */ (own.element.querySelector(`[data-action="${CSS.escape(`edit-${comment.id}`)}"]`))?.focus();
    };
    const form = composer({
      label: t("comments.yours"),
      send: t("save"),
      original: comment.text,
      bytesMax: () => comments.textBytesMax,
      async submit(text) {
        await comments.change(comment.id, { text });
        end();
        return undefined;
      },
      failed: (error) => ({ problem: t("comments.notSent", { reason: messageOf(error) }), isOpen: false }),
      cancel: end,
    });
    item.replaceChildren(form.element);
    form.focus();
  }

  /**
   * @param {View} own
   * @param {Comment} comment
   */
  async function remove(own, comment) {
    const isSure = await confirm({
      title: t("comments.removeTitle"),
      text: t("comments.removeText"),
      yes: t("comments.remove"),
    });
    if (!isSure) return;
    await attempt(own, () => comments.remove(comment.id));
    if (!own.element.isConnected) button.focus();
  }

  // New words.

  /**
   * Sends a comment once, however often it is tried.
   *
   * @param {string} [thread]
   */
  function sender(thread) {
    const name = thread ?? "";
    let sent = unsent.get(name)?.sent;
    return {
      /** @param {string} text That is in the field now. */
      keep: (text) => unsent.keep(name, text.trim() ? { text, sent } : undefined),
      /**
       * @param {string} text
       * @returns {Promise<string | undefined>}
       */
      async submit(text) {
        if (sent?.text !== text) {
          const body = await comments.bodyOf({ text, author: profile().name, thread });
          if (body === undefined) return t("comments.unsaved");
          if (body === null) return t("comments.rangeGone");
          sent = { text, body, key: comments.newKey() };
          // Whether it arrives, a page that goes away meanwhile does not hear.
          unsent.keep(name, { text, sent });
        }
        await comments.make(sent.body, sent.key);
        sent = undefined;
        unsent.keep(name, undefined);
        announce(t("comments.made"));
        return undefined;
      },
      /** @param {unknown} error */
      failed(error) {
        const status = error instanceof RequestError ? error.status : 0;
        const isOpen = status === 0 || status >= 500;
        if (!isOpen) {
          sent = undefined;
          const text = unsent.get(name)?.text;
          if (text) unsent.keep(name, { text });
        }
        return {
          problem: isOpen ? t("comments.waiting") : t("comments.notSent", { reason: messageOf(error) }),
          isOpen,
        };
      },
    };
  }

  /** @param {string} thread */
  function answerTo(thread) {
    const { keep, submit, failed } = sender(thread);
    const form = composer({
      label: t("comments.answer"),
      send: t("comments.send"),
      text: unsent.get(thread)?.text ?? "",
      bytesMax: () => comments.textBytesMax,
      submit,
      failed,
      changed: () => keep(form.text),
    });
    return form;
  }

  /** Begins a comment on what is selected in the text. */
  function begin() {
    if (!comments.mayComment) return;
    const { anchor, head } = view.state.selection.main;
    const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
    open(true);
    if (from === to) {
      announce(t("comments.selectFirst"));
      byId("comments-none").hidden = false;
      byId("comments-none").textContent = t("comments.selectFirst");
      return;
    }
    if (draft && !draft.isEmpty) {
      draft.focus();
      return;
    }
    endDraft();
    marks.set(view, [{ id: "", from, to }, ...marks.marksOf(view).filter(({ id }) => id !== "")]);
    const { keep, submit, failed } = sender();
    const form = composer({
      label: t("comments.yours"),
      send: t("comments.comment"),
      text: unsent.get("")?.text ?? "",
      bytesMax: () => comments.textBytesMax,
      async submit(text) {
        const problem = await submit(text);
        if (problem === undefined) {
          endDraft();
          view.focus();
        }
        return problem;
      },
      failed,
      cancel() {
        unsent.keep("", undefined);
        endDraft();
        view.focus();
      },
      changed: () => keep(form.text),
    });
    draft = form;
    const quote = document.createElement("p");
    quote.className = "quote";
    quote.dir = "auto";
    quote.textContent = view.state.doc.sliceString(from, Math.min(to, from + 400));
    byId("comment-new").replaceChildren(quote, draft.element);
    byId("comment-new").hidden = false;
    draw();
    draft.focus();
  }

  function endDraft() {
    draft = undefined;
    byId("comment-new").hidden = true;
    byId("comment-new").replaceChildren();
    marks.set(view, marks.marksOf(view).filter(({ id }) => id !== ""));
    draw();
  }

  // The text.

  /** Which threads have a place in the text. */
  function drawMarks() {
    const placed = new Set(marks.marksOf(view).map(({ id }) => id));
    for (const { element, thread } of views.values()) {
      const { id, place, resolved } = thread.first;
      element.classList.toggle("is-gone", resolved ? !place : !placed.has(id) && !place);
      const gone = element.children[1];
      if (gone instanceof HTMLElement) gone.hidden = !element.classList.contains("is-gone");
    }
  }

  /** @param {string | undefined} id */
  function choose(id) {
    if (chosen === id) return;
    chosen = id;
    marks.choose(view, id);
    for (const { element, thread } of views.values()) element.classList.toggle("is-chosen", thread.first.id === id);
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

  /** The button beside what is selected. */
  function drawHere() {
    const { empty, head } = view.state.selection.main;
    const isWanted = comments.mayComment && !empty && !draft;
    here.hidden = true;
    if (!isWanted) return;
    requestAnimationFrame(() => {
      const place = view.coordsAtPos(Math.min(head, view.state.doc.length));
      if (!place || view.state.selection.main.empty || isClosed) return;
      const paper = byId("paper").getBoundingClientRect();
      here.hidden = false;
      const { width, height } = here.getBoundingClientRect();
      const left = Math.min(Math.max(8, place.left - paper.left - width / 2), paper.width - width - 8);
      const below = place.bottom - paper.top + 6;
      here.style.left = `${left}px`;
      here.style.top = `${Math.max(4, below + height > paper.height ? place.top - paper.top - height - 6 : below)}px`;
    });
  }

  let isClosed = false;
  editor.onComments({
    moved: drawMarks,
    doubtful: () => comments.placeAnew(),
    selected: drawHere,
    clicked(id) {
      open(true);
      const own = views.get(id);
      own?.element.focus();
      own?.element.scrollIntoView({ block: "nearest" });
    },
  });
  const hideHere = () => (here.hidden = true);
  view.scrollDOM.addEventListener("scroll", hideHere);
  const retry = () => {
    draft?.retry();
    for (const { answer } of views.values()) answer?.retry();
  };
  const subscriptions = [
    comments.on("changed", draw),
    comments.on("failed", (error) => {
      if (!comments.isLoaded && isOpen()) byId("comments-none").textContent = t("comments.failed", { reason: messageOf(error) });
    }),
    connection.on("welcome", retry),
    note.on("status", () => note.phase === "live" && !comments.isLoaded && void comments.refresh()),
  ];

  button.onclick = () => {
    open(!isOpen());
    if (isOpen()) byId("comments-close").focus();
  };
  byId("comments-close").onclick = () => {
    open(false);
    button.focus();
  };
  panel.onkeydown = ({ key }) => {
    if (key !== "Escape") return;
    open(false);
    view.focus();
  };
  // A button that took the focus would take the selection with it, on a phone.
  here.onpointerdown = (event) => event.preventDefault();
  here.onclick = begin;
  resolvedBox.onchange = draw;
  button.hidden = false;
  draw();

  return {
    begin,
    get mayComment() {
      return comments.mayComment;
    },
    get note() {
      return note;
    },
    get editor() {
      return editor;
    },
    close() {
      isClosed = true;
      for (const unsubscribe of subscriptions) unsubscribe();
      editor.onComments(undefined);
      comments.close();
      open(false);
      here.hidden = true;
      byId("comment-new").hidden = true;
      byId("comment-new").replaceChildren();
      byId("comments-list").replaceChildren();
      button.onclick = here.onclick = resolvedBox.onchange = panel.onkeydown = null;
      view.scrollDOM.removeEventListener("scroll", hideHere);
    },
  };
}
