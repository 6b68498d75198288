// The switch “Show changes” of the history: since when, which change is looked at, and taking one back.

import { announce, byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { comparisonOf } from "./comparison.js";
import { moment, span } from "./moments.js";

/**
 * @typedef {import("./history.js").NoteHistory} NoteHistory
 * @typedef {import("./history.js").PastText} PastText
 * @typedef {import("./comparison.js").Comparison} Comparison
 */

/** The choice of the beginning of the session. */
const session = "session";

/** The two moments that are compared, and what is between them. */
export class Comparing {
  /** Whether changes are shown. */
  isOn = false;

  #history;
  #options;
  #since = /** @type {HTMLSelectElement} */ (byId("history-since"));
  /** @type {number | undefined} A moment that was picked. */
  #picked;
  /** @type {{to: number, comparison: Comparison} | undefined} */
  #shown;
  /** The two revisions that were asked for. */
  #asked = "";
  /** The moments that can be chosen, as they were drawn. */
  #choices = "";
  /** The change that is looked at, or -1. */
  #current = -1;

  /**
   * @param {object} options
   * @param {NoteHistory} options.history
   * @param {() => number} options.revision Where the slider stands.
   * @param {() => boolean} options.mayWrite
   * @param {(comparison: Comparison, restore: ((index: number) => void) | undefined) => Promise<boolean>} options.show Tells
   *   whether it is still to be shown.
   * @param {(comparison: Comparison) => number} options.partCount How many changed parts are shown.
   * @param {(comparison: Comparison, index: number) => void} options.reveal Brings a changed part into view.
   * @param {() => boolean} options.mayRestoreParts Whether the parts are those of the text.
   * @param {(revision: number, operation: (number | string)[]) => void} options.restore
   * @param {() => void} options.changed The two moments have changed.
   * @param {AbortSignal} options.signal
   */
  constructor(options) {
    this.#options = options;
    this.#history = options.history;
    const { signal } = options;
    /** @param {string} id @param {() => void} action */
    const onClick = (id, action) => byId(id).addEventListener("click", action, { signal });
    onClick("history-compare", () => this.#toggle());
    onClick("history-pick", () => this.#pick());
    onClick("history-change-back", () => this.#go(-1));
    onClick("history-change-forward", () => this.#go(1));
    onClick("history-change-restore", () => this.#restore(this.#current));
    this.#since.addEventListener("change", () => options.changed(), { signal });
    this.#draw();
  }

  /** The two revisions: the chosen one and the one at the slider, the older one first. */
  get ends() {
    const at = this.#options.revision();
    const from = this.#from(at);
    return { from: Math.min(from, at), to: Math.max(from, at) };
  }

  /** @param {number} at */
  #from(at) {
    const { oldest, head } = this.#history;
    const chosen = this.#since.value;
    const found = chosen === session ? (this.#history.sessionAt(at)?.firstRevision ?? at) - 1 : Number(chosen);
    return Math.min(Math.max(found, oldest), head);
  }

  /** Asks for what is to be shown now; first for the session of the moment, if it is not known. */
  want() {
    const at = this.#options.revision();
    if (this.#since.value !== session || this.#history.sessionAt(at)) return this.#ask();
    const ask = () => {
      if (this.isOn && this.#options.revision() === at) this.#ask();
    };
    this.#history.lookUp(at).then(ask, ask);
  }

  /** Asks again where the two moments are others by now, as when more of a session is known. */
  wantAgain() {
    const { from, to } = this.ends;
    if (this.isOn && this.#asked !== `${from}-${to}`) this.want();
  }

  #ask() {
    const { from, to } = this.ends;
    this.#asked = `${from}-${to}`;
    this.#history.want(to);
    this.#history.compare(from, to);
  }

  /**
   * Shows the difference, once it and the newer text are here.
   *
   * @param {import("./comparison.js").Difference} difference
   */
  async take({ from, to, fromTime, toTime, parts }) {
    const { ends } = this;
    const past = this.#history.textAt(to);
    if (!this.isOn || from !== ends.from || to !== ends.to || !past) return;
    const comparison = comparisonOf(past.committed, parts);
    this.#shown = { to, comparison };
    this.#current = -1;
    byId("history-between").textContent = from > 0 ? span(fromTime, toTime) : moment(toTime);
    const { show, mayWrite } = this.#options;
    if (await show(comparison, mayWrite() ? (index) => this.#restore(index) : undefined)) this.drawPlace();
  }

  #toggle() {
    this.isOn = !this.isOn;
    this.#shown = undefined;
    this.#draw();
    this.#options.changed();
  }

  #pick() {
    this.#picked = this.#options.revision();
    this.drawChoices();
    this.#since.value = String(this.#picked);
    announce(t("history.picked"));
    this.#options.changed();
  }

  #draw() {
    byId("history-compare").setAttribute("aria-pressed", String(this.isOn));
    byId("history-comparing").hidden = !this.isOn;
    byId("history-between").textContent = "";
    if (this.isOn) this.drawChoices();
    this.drawPlace();
  }

  /** The moments that changes can be shown since: all that the list beside has, and one that was picked. */
  drawChoices() {
    const { versions, oldest, sessions } = this.#history;
    const chosen = this.#since.value || session;
    /** @type {[string, string][]} */
    const first = [
      [session, t("history.sinceSession")],
      [String(oldest), t("history.sinceBeginning")],
    ];
    const named = versions.map(({ revision, name }) => /** @type {[string, string]} */ ([String(revision), name]));
    const ends = sessions.map(({ lastRevision, lastTime }) => /** @type {[string, string]} */ ([String(lastRevision), moment(lastTime)]));
    const picked = this.#picked;
    if (picked !== undefined && ![...first, ...named, ...ends].some(([value]) => value === String(picked))) {
      const time = moment(this.#history.timeOf(picked)) || t("history.revisionOf", { revision: picked, head: this.#history.head });
      first.push([String(picked), time]);
    }
    // A list that is open would close.
    const choices = JSON.stringify([first, named, ends]);
    if (choices === this.#choices) return;
    this.#choices = choices;
    this.#since.replaceChildren(...optionsOf(first), ...groupOf(t("history.versions"), named), ...groupOf(t("history.sessions"), ends));
    this.#since.value = chosen;
    if (this.#since.selectedIndex < 0) this.#since.value = session;
  }

  /** Which of the changes is looked at. */
  drawPlace() {
    const count = this.#partCount;
    byId("history-change-place").textContent = !this.#shown
      ? ""
      : this.#current < 0
        ? t("history.changedParts", { count })
        : t("history.changedPart", { number: this.#current + 1, count });
    for (const id of ["history-change-back", "history-change-forward"]) {
      /** @type {HTMLButtonElement} */ (byId(id)).disabled = count === 0;
    }
    const restore = /** @type {HTMLButtonElement} */ (byId("history-change-restore"));
    restore.hidden = !this.#options.mayWrite() || !this.#options.mayRestoreParts();
    // A button that cannot be used any more would take the focus with it.
    if (this.#current < 0 && document.activeElement === restore) byId("history-compare").focus();
    restore.disabled = this.#current < 0;
  }

  get #partCount() {
    return this.#shown ? this.#options.partCount(this.#shown.comparison) : 0;
  }

  /** @param {1 | -1} direction */
  #go(direction) {
    const count = this.#partCount;
    if (!this.#shown || count === 0) return;
    const from = this.#current < 0 && direction < 0 ? 0 : this.#current;
    this.#current = (from + direction + count) % count;
    this.#options.reveal(this.#shown.comparison, this.#current);
    this.drawPlace();
    announce(byId("history-change-place").textContent ?? "");
  }

  /** @param {number} index */
  #restore(index) {
    const operation = this.#shown?.comparison.hunks[index]?.operation;
    if (this.#shown && operation) this.#options.restore(this.#shown.to, operation);
  }
}

/** @param {[string, string][]} choices Values and texts. */
const optionsOf = (choices) => choices.map(([value, text]) => new Option(text, value));

/** @param {string} label @param {[string, string][]} choices */
function groupOf(label, choices) {
  if (choices.length === 0) return [];
  const group = document.createElement("optgroup");
  group.label = label;
  group.append(...optionsOf(choices));
  return [group];
}
