// One thread beside the note: its comments, their actions, and the field for an answer.

import { announce, confirm } from "../ground/dialogs.js";
import { commentItem } from "./commentitem.js";
import { Composer } from "./composer.js";
import { t } from "../ground/language.js";
import { colorHere } from "../people/me.js";
import { shownName } from "../state/people.js";
import { messageOf } from "../client/words.js";

/**
 * @typedef {import("./comments.js").Comment} Comment
 * @typedef {import("./comments.js").Thread} Thread
 */

/** @param {() => void} jump */
function quoteButton(jump) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quote";
  button.dir = "auto";
  button.addEventListener("click", jump);
  return button;
}

function goneLine() {
  const line = document.createElement("p");
  line.className = "thread-gone";
  line.textContent = t("comments.gone");
  return line;
}

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

export class ThreadView {
  element = document.createElement("li");

  #options;
  #id;
  #comments;
  #quote;
  #gone = goneLine();
  #body = document.createElement("div");
  #problem = problemLine();
  /** @type {Composer | undefined} The field for an answer. */
  #answer;
  /** @type {string | undefined} The comment that is being edited. */
  #editing;
  #isChosen = false;
  #isPressed = false;

  /**
   * @param {object} options
   * @param {string} options.id The id of its first comment.
   * @param {import("./comments.js").Comments} options.comments
   * @param {() => {name: string}} options.profile
   * @param {() => import("./commentsender.js").CommentSender} options.answering Called when the user may write an
   * answer.
   * @param {() => void} options.choose Highlights the thread.
   * @param {() => void} options.jump Shows its range in the text.
   * @param {() => void} options.redraw Draws all threads again.
   * @param {() => void} options.ended Called after this user has deleted it, which loses the focus.
   */
  constructor(options) {
    this.#options = options;
    this.#id = options.id;
    this.#comments = options.comments;
    this.#quote = quoteButton(options.jump);
    const { element } = this;
    element.className = "thread";
    element.dataset.id = options.id;
    element.tabIndex = -1;
    this.#chooseOnFocus();
    this.#body.className = "thread-body";
    this.#body.append(this.#problem);
    element.append(this.#quote, this.#gone, this.#body);
  }

  #chooseOnFocus() {
    const { element } = this;
    const { choose } = this.#options;
    const release = () => (this.#isPressed = false);
    // A pointer selects after the click: selecting closes the former thread's field, which moves the threads below.
    element.addEventListener("pointerdown", () => {
      this.#isPressed = true;
      addEventListener("pointerup", release, { once: true });
      addEventListener("pointercancel", release, { once: true });
    });
    element.addEventListener("click", choose);
    element.addEventListener("focusin", () => this.#isPressed || choose());
  }

  // Drawing.

  /** @param {Thread} thread */
  draw({ first, answers }) {
    this.#drawQuote(first);
    // A comment that is being edited here is not redrawn.
    const kept = this.#editing === undefined ? null : this.#itemWith(this.#editing);
    const focused = this.#focusedAction();
    const items = [first, ...answers].map((comment) => (kept && comment.id === this.#editing ? kept : this.#itemOf(comment)));
    const foot = this.#footOf(first);
    if (this.#comments.mayComment && !this.#answer) {
      this.#answer = this.#makeAnswer();
      this.element.append(this.#answer.element);
    }
    for (const child of [...this.#body.children]) if (child !== kept && child !== this.#problem) child.remove();
    // A moved element loses the focus, so the others are inserted around the one that is being edited.
    const place = kept ? items.indexOf(kept) : -1;
    if (kept) kept.before(...items.slice(0, Math.max(place, 0)));
    this.#problem.before(...items.slice(place + 1), foot);
    this.#drawAnswer();
    if (focused) this.#actionNamed(focused)?.focus();
  }

  /** @param {boolean} isGone Whether its range is no longer in the text. */
  drawPlace(isGone) {
    this.element.classList.toggle("is-gone", isGone);
    this.#gone.hidden = !isGone;
  }

  /** @param {boolean} isChosen */
  drawChosen(isChosen) {
    this.#isChosen = isChosen;
    this.element.classList.toggle("is-chosen", isChosen);
    this.#drawAnswer();
  }

  /** Called when the connection is restored. */
  retry() {
    this.#answer?.retry();
  }

  /** @param {Comment} first */
  #drawQuote({ made, resolved }) {
    const quote = made?.quote ?? "";
    this.#quote.textContent = quote;
    this.#quote.setAttribute("aria-label", t("comments.show", { quote }));
    this.element.classList.toggle("is-resolved", resolved !== undefined);
  }

  /** Shows the field for an answer in the chosen thread, or if it contains an unsent answer. */
  #drawAnswer() {
    const answer = this.#answer;
    const isShown = answer !== undefined && this.#comments.mayComment && (this.#isChosen || answer.text !== "");
    if (answer) answer.element.hidden = !isShown;
    const button = this.#actionNamed(`answer-${this.#id}`);
    if (button) button.hidden = isShown;
  }

  /** @param {Comment} first */
  #footOf({ resolved }) {
    const foot = document.createElement("p");
    foot.className = "thread-foot";
    if (resolved) {
      const words = document.createElement("span");
      words.textContent = t("comments.resolvedBy", { name: shownName(resolved.by) || t("history.somebody") });
      foot.append(words);
    }
    if (this.#comments.mayComment) {
      const isResolved = resolved !== undefined;
      const label = isResolved ? t("comments.reopen") : t("comments.resolve");
      foot.append(
        action(t("comments.answer"), `answer-${this.#id}`, () => this.#openAnswer()),
        action(label, `resolve-${this.#id}`, () => void this.#resolve(!isResolved)),
      );
    }
    return foot;
  }

  /** @param {Comment} comment */
  #itemOf(comment) {
    const item = commentItem(comment, colorHere(comment.author));
    if (comment.mine && !comment.withdrawn && this.#comments.mayComment) {
      const foot = document.createElement("p");
      foot.className = "comment-foot";
      foot.append(
        action(t("comments.edit"), `edit-${comment.id}`, () => this.#edit(comment)),
        action(t("comments.remove"), `remove-${comment.id}`, () => void this.#remove(comment)),
      );
      item.append(foot);
    }
    return item;
  }

  /** @param {string} name @returns {HTMLElement | null} */
  #actionNamed(name) {
    return this.#body.querySelector(`[data-action="${CSS.escape(name)}"]`);
  }

  /** @returns {string | undefined} The name of the action that has the focus. */
  #focusedAction() {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    return this.#body.contains(focused) ? focused?.dataset.action : undefined;
  }

  /** @param {string} comment @returns {HTMLElement | null} */
  #itemWith(comment) {
    return this.#body.querySelector(`[data-id="${CSS.escape(comment)}"]`);
  }

  // Actions of the user.

  #makeAnswer() {
    const { text, keep, submit, failed } = this.#options.answering();
    /** @type {Composer} */
    const composer = new Composer({
      label: t("comments.answer"),
      send: t("comments.send"),
      text,
      bytesMax: () => this.#comments.textBytesMax,
      submit,
      failed,
      changed: () => keep(composer.text),
    });
    return composer;
  }

  #openAnswer() {
    this.#options.choose();
    this.#answer?.focus();
  }

  /** @param {() => Promise<void>} work */
  async #attempt(work) {
    this.#problem.textContent = "";
    try {
      await work();
    } catch (error) {
      this.#problem.textContent = t("comments.changeFailed", { reason: messageOf(error) });
    }
  }

  /** @param {boolean} isWanted */
  #resolve(isWanted) {
    return this.#attempt(async () => {
      await this.#comments.change(this.#id, { resolved: isWanted, author: this.#options.profile().name });
      announce(isWanted ? t("comments.resolved") : t("comments.reopened"));
    });
  }

  /** @param {Comment} comment */
  #edit(comment) {
    const item = this.#itemWith(comment.id);
    if (!item || this.#editing !== undefined) return;
    this.#editing = comment.id;
    const end = () => {
      this.#editing = undefined;
      this.#options.redraw();
      this.#actionNamed(`edit-${comment.id}`)?.focus();
    };
    const composer = new Composer({
      label: t("comments.yours"),
      send: t("save"),
      original: comment.text,
      bytesMax: () => this.#comments.textBytesMax,
      submit: async (text) => {
        await this.#comments.change(comment.id, { text });
        end();
        return undefined;
      },
      failed: (error) => ({ problem: t("comments.notSent", { reason: messageOf(error) }), isOpen: false }),
      cancel: end,
    });
    item.replaceChildren(composer.element);
    composer.focus();
  }

  /** @param {Comment} comment */
  async #remove(comment) {
    const isSure = await confirm({
      title: t("comments.removeTitle"),
      text: t("comments.removeText"),
      yes: t("comments.remove"),
    });
    if (!isSure) return;
    await this.#attempt(() => this.#comments.remove(comment.id));
    if (!this.element.isConnected) this.#options.ended();
  }
}
