// One thread beside the note: its comments, the actions on each of them, and the field for an answer.

import { announce, confirm } from "../shell/dialogs.js";
import { commentItem } from "./commentitem.js";
import { composer } from "./composer.js";
import { t } from "../shell/language.js";
import { colorHere } from "../people/me.js";
import { shownName } from "../people/people.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("./comments.js").Comment} Comment
 * @typedef {import("./comments.js").Thread} Thread
 * @typedef {ReturnType<typeof composer>} Composer
 * @typedef {ReturnType<typeof threadView>} ThreadView
 */

function problemLine() {
  const line = document.createElement("p");
  line.className = "problem thread-problem";
  line.setAttribute("role", "alert");
  return line;
}

/**
 * @param {string} label
 * @param {string} name A unique name.
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
 * @param {object} options
 * @param {string} options.id Of its first comment.
 * @param {import("./comments.js").Comments} options.comments
 * @param {() => {name: string}} options.profile
 * @param {() => import("./commentsender.js").CommentSender} options.answering Asked for when an answer may be written.
 * @param {() => void} options.choose Highlights the thread.
 * @param {() => void} options.jump Shows its range in the text.
 * @param {() => void} options.redraw Draws all threads again.
 * @param {() => void} options.ended Called when it was deleted here, and the focus with it.
 */
export function threadView({ id, comments, profile, answering, choose, jump, redraw, ended }) {
  /** @type {Composer | undefined} */
  let answer;
  /** @type {string | undefined} The comment that is being edited. */
  let editing;
  const element = document.createElement("li");
  element.className = "thread";
  element.dataset.id = id;
  element.tabIndex = -1;
  let isChosen = false;
  let isPressed = false;
  // Only after the click, since the field of the thread chosen before closes, and moves the threads below.
  element.addEventListener("pointerdown", () => {
    isPressed = true;
    addEventListener("pointerup", () => (isPressed = false), { once: true });
    addEventListener("pointercancel", () => (isPressed = false), { once: true });
  });
  element.addEventListener("click", choose);
  element.addEventListener("focusin", () => isPressed || choose());
  const quote = document.createElement("button");
  quote.type = "button";
  quote.className = "quote";
  quote.dir = "auto";
  quote.addEventListener("click", jump);
  const gone = document.createElement("p");
  gone.className = "thread-gone";
  gone.textContent = t("comments.gone");
  const body = document.createElement("div");
  body.className = "thread-body";
  const trouble = problemLine();
  body.append(trouble);
  element.append(quote, gone, body);

  /** @param {string} name @returns {HTMLElement | null} */
  const actionOf = (name) => body.querySelector(`[data-action="${CSS.escape(name)}"]`);

  /** @param {string} comment @returns {HTMLElement | null} */
  const itemWith = (comment) => body.querySelector(`[data-id="${CSS.escape(comment)}"]`);

  /** @param {Thread} thread */
  function draw({ first, answers }) {
    const words = first.made?.quote ?? "";
    quote.textContent = words;
    quote.setAttribute("aria-label", t("comments.show", { quote: words }));
    element.classList.toggle("is-resolved", first.resolved !== undefined);
    // A comment that is being edited here stays as it is.
    const kept = editing === undefined ? null : itemWith(editing);
    const focused = body.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.action : undefined;
    const items = [first, ...answers].map((comment) => (kept && comment.id === editing ? kept : itemOf(comment)));
    const foot = footOf(first);
    if (comments.mayComment && !answer) {
      answer = answerField();
      element.append(answer.element);
    }
    for (const child of [...body.children]) if (child !== kept && child !== trouble) child.remove();
    // An element that is moved loses the focus, so the others are put around the one that is being edited.
    const place = kept ? items.indexOf(kept) : -1;
    if (kept) kept.before(...items.slice(0, Math.max(place, 0)));
    trouble.before(...items.slice(place + 1), foot);
    drawAnswer();
    if (focused) actionOf(focused)?.focus();
  }

  /** The field for an answer is shown in the chosen thread, and where it contains an unsent answer. */
  function drawAnswer() {
    const isShown = answer !== undefined && comments.mayComment && (isChosen || answer.text !== "");
    if (answer) answer.element.hidden = !isShown;
    const button = actionOf(`answer-${id}`);
    if (button) button.hidden = isShown;
  }

  function openAnswer() {
    choose();
    answer?.focus();
  }

  /** @param {Comment} first */
  function footOf({ resolved }) {
    const foot = document.createElement("p");
    foot.className = "thread-foot";
    if (resolved) {
      const words = document.createElement("span");
      words.textContent = t("comments.resolvedBy", { name: shownName(resolved.by) || t("history.somebody") });
      foot.append(words);
    }
    if (comments.mayComment) {
      const isResolved = resolved !== undefined;
      const label = isResolved ? t("comments.reopen") : t("comments.resolve");
      foot.append(action(t("comments.answer"), `answer-${id}`, openAnswer));
      foot.append(action(label, `resolve-${id}`, () => void resolve(!isResolved)));
    }
    return foot;
  }

  /** @param {Comment} comment */
  function itemOf(comment) {
    const item = commentItem(comment, colorHere(comment.author));
    if (comment.mine && !comment.withdrawn && comments.mayComment) {
      const foot = document.createElement("p");
      foot.className = "comment-foot";
      foot.append(
        action(t("comments.edit"), `edit-${comment.id}`, () => edit(comment)),
        action(t("comments.remove"), `remove-${comment.id}`, () => void remove(comment)),
      );
      item.append(foot);
    }
    return item;
  }

  function answerField() {
    const { text, keep, submit, failed } = answering();
    const form = composer({
      label: t("comments.answer"),
      send: t("comments.send"),
      text,
      bytesMax: () => comments.textBytesMax,
      submit,
      failed,
      changed: () => keep(form.text),
    });
    return form;
  }

  // What a person does.

  /** @param {() => Promise<void>} work */
  async function attempt(work) {
    trouble.textContent = "";
    try {
      await work();
    } catch (error) {
      trouble.textContent = t("comments.changeFailed", { reason: messageOf(error) });
    }
  }

  /** @param {boolean} isWanted */
  const resolve = (isWanted) =>
    attempt(async () => {
      await comments.change(id, { resolved: isWanted, author: profile().name });
      announce(isWanted ? t("comments.resolved") : t("comments.reopened"));
    });

  /** @param {Comment} comment */
  function edit(comment) {
    const item = itemWith(comment.id);
    if (!item || editing !== undefined) return;
    editing = comment.id;
    const end = () => {
      editing = undefined;
      redraw();
      actionOf(`edit-${comment.id}`)?.focus();
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

  /** @param {Comment} comment */
  async function remove(comment) {
    const isSure = await confirm({
      title: t("comments.removeTitle"),
      text: t("comments.removeText"),
      yes: t("comments.remove"),
    });
    if (!isSure) return;
    await attempt(() => comments.remove(comment.id));
    if (!element.isConnected) ended();
  }

  return {
    element,
    draw,
    /** @param {boolean} isGone Whether its words are no longer in the text. */
    drawPlace(isGone) {
      element.classList.toggle("is-gone", isGone);
      gone.hidden = !isGone;
    },
    /** @param {boolean} isNowChosen */
    drawChosen(isNowChosen) {
      isChosen = isNowChosen;
      element.classList.toggle("is-chosen", isChosen);
      drawAnswer();
    },
    /** Called when the server can be reached again. */
    retry: () => answer?.retry(),
  };
}
