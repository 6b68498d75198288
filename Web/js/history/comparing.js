// The switch “Show changes” of the history: the start of the comparison, the selected change, and reverting a change.

import { announce, byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { comparisonOf } from "./comparison.js";
import { moment, span } from "./moments.js";

/**
 * @typedef {import("./history.js").NoteHistory} NoteHistory
 * @typedef {import("./history.js").PastText} PastText
 * @typedef {import("./comparison.js").Comparison} Comparison
 */

/** The option for the start of the session. */
const session = "session";

/** The two revisions that are compared, and the changes between them. */
export class Comparing {
  /** Whether changes are shown. */
  isOn = false;

  #history;
  #options;
  #since = /** @type {HTMLSelectElement} */ (byId("history-since"));
  /** @type {number | undefined} The revision that the user picked. */
  #picked;
  /** @type {{from: number, to: number, comparison: Comparison} | undefined} */
  #shown;
  /** The two revisions last requested. */
  #asked = "";
  /** The options as they were drawn. */
  #choices = "";
  /** The index of the selected change; -1 if none is selected. */
  #current = -1;

  /**
   * @param {object} options
   * @param {NoteHistory} options.history
   * @param {() => number} options.revision The revision at the slider.
   * @param {() => boolean} options.mayWrite
   * @param {(comparison: Comparison, restore: ((index: number) => void) | undefined) => Promise<boolean>} options.show
   * Fulfilled with false if the comparison is outdated.
   * @param {(comparison: Comparison) => number} options.partCount The number of changed parts shown.
   * @param {(comparison: Comparison, index: number) => void} options.reveal Scrolls to a changed part.
   * @param {() => boolean} options.mayRestoreParts Whether the parts are those of the text, which can be restored.
   * @param {(ends: {from: number, to: number}, part: import("./comparison.js").Hunk) => void} options.restore
   * @param {() => void} options.changed Called when one of the two revisions has changed.
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

  /** The two revisions, the older one first: the chosen one and the one at the slider. */
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

  /** Requests the comparison; first the session of the slider's revision, if it is needed and not loaded. */
  want() {
    const at = this.#options.revision();
    if (this.#since.value !== session || this.#history.sessionAt(at)) return this.#ask();
    const ask = () => {
      if (this.isOn && this.#options.revision() === at) this.#ask();
    };
    this.#history.lookUp(at).then(ask, ask);
  }

  /** Requests the comparison again if a revision has changed, for example because more of a session is loaded. */
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
   * Shows a difference if it is still wanted and the newer text is loaded.
   *
   * @param {import("./comparison.js").Difference} difference
   */
  async take({ from, to, fromTime, toTime, parts }) {
    const { ends } = this;
    const past = this.#history.textAt(to);
    if (!this.isOn || from !== ends.from || to !== ends.to || !past) return;
    const comparison = comparisonOf(past.committed, parts);
    this.#shown = { from, to, comparison };
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

  /** Draws the options for the start: the entries of the list beside, and the picked revision. */
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
    // Do not redraw equal options: that would close an open list.
    const choices = JSON.stringify([first, named, ends]);
    if (choices === this.#choices) return;
    this.#choices = choices;
    this.#since.replaceChildren(...optionsOf(first), ...groupOf(t("history.versions"), named), ...groupOf(t("history.sessions"), ends));
    this.#since.value = chosen;
    if (this.#since.selectedIndex < 0) this.#since.value = session;
  }

  /** Draws which of the changes is selected. */
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
    // Move the focus first: a disabled button would lose it.
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
    const part = this.#shown?.comparison.hunks[index];
    if (this.#shown && part) this.#options.restore(this.#shown, part);
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
