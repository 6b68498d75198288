// The history of a note, over the note: a slider through its revisions, the text at each or the changes, and the named
// versions. The editor below is not changed.

import { announce, byId, confirm, icon, openDialog, toast } from "../ground/dialogs.js";
import { NoteHistory, colorsOf } from "./history.js";
import { isolated, t } from "../ground/language.js";
import { oneLine } from "../ground/oneline.js";
import { threadItem, threadsAt } from "./pastcomments.js";
import { avatar, colorOf, shownName } from "../state/people.js";
import { messageOf } from "../client/words.js";
import { Comparing } from "./comparing.js";
import { Display } from "./display.js";
import { historyStyles } from "./historysheet.js";
import { moment } from "./moments.js";
import { SessionList } from "./sessionlist.js";
import { drawFlags, drawTrack } from "./track.js";

/**
 * @typedef {import("../client/note.js").Note} Note
 * @typedef {import("./history.js").Version} Version
 */

export { showAuthors } from "./authorcolours.js";

const sheet = new CSSStyleSheet();
sheet.replaceSync(await historyStyles());
document.adoptedStyleSheets.push(sheet);

/** Minimum interval between fetches of the history after edits; milliseconds. */
const refreshEvery = 1_000;

/**
 * @typedef {object} Options
 * @property {Note} note
 * @property {() => string} title
 * @property {{name: string, color: string}} profile
 * @property {typeof import("../editing/text.js").readerIn} readerIn
 * @property {{of: (note: object) => import("./pastcomments.js").Answer | undefined,
 *   news: import("../ground/emitter.js").Emitter<{changed: void}>}} comments
 * @property {(text: string, format: import("./history.js").PastFormat) => DocumentFragment} [formatted] Draws a formatted
 *   text, for a formatted note.
 * @property {() => void} leave Called when the user closes the history; the caller then calls `close`.
 */

/**
 * Opens the history over the note.
 *
 * @param {Options} options
 */
export const openHistory = (options) => new HistoryView(options);

class HistoryView {
  #note;
  #profile;
  #leave;
  #history;
  #display;
  #list;
  #comparing;
  #section = byId("history");
  #slider = /** @type {HTMLInputElement} */ (byId("history-slider"));
  #canvas = /** @type {HTMLCanvasElement} */ (byId("history-canvas"));
  #listeners = new AbortController();
  #resized = new ResizeObserver(() => drawTrack(this.#canvas, this.#history, this.#colors));
  /** @type {(() => void)[]} */
  #subscriptions = [];

  /** The revision at the slider. */
  #revision = 0;
  /** Whether the slider follows the newest revision. */
  #isAtHead = true;
  /** Whether the next text is an update that the user has not requested. */
  #isNews = false;
  /** @type {number | undefined} The revision whose text is shown. */
  #shown;
  /** @type {Map<string, string>} */
  #colors = new Map();
  /** Access to the note's comments. */
  #comments;
  /** The ids and edit times of the drawn comments, as JSON. */
  #drawnComments = "";
  /** @type {any} */
  #refreshTimer;
  #isClosed = false;

  /** @param {Options} options */
  constructor({ note, title, profile, readerIn, comments, formatted, leave }) {
    this.#note = note;
    this.#comments = comments;
    this.#profile = profile;
    this.#leave = leave;
    this.#history = new NoteHistory({ documentId: note.documentId });
    this.#section.hidden = false;
    byId("note").inert = true;
    byId("history-note").textContent = title();
    this.#display = new Display({
      readerIn,
      noteId: note.documentId,
      formatted,
      changed: () => this.#showAgain(),
      signal: this.#listeners.signal,
    });
    this.#list = new SessionList({
      list: byId("history-sessions"),
      history: this.#history,
      nameOf: (author) => this.#nameOf(author),
      faceOf: (author) => this.#faceOf(author),
      choose: (revision) => this.#choose(revision),
      failed: (error) => this.#showProblem(error),
    });
    this.#comparing = new Comparing({
      history: this.#history,
      revision: () => this.#revision,
      mayWrite: () => this.#mayWrite,
      show: (comparison, restore) => this.#showComparison(comparison, restore),
      partCount: (comparison) => this.#display.partCount(comparison),
      reveal: (comparison, index) => this.#display.reveal(comparison, index),
      mayRestoreParts: () => this.#display.showsPartsOfText,
      restore: (ends, part) => void this.#restorePart(ends, part),
      changed: () => this.#showText(),
      signal: this.#listeners.signal,
    });
    this.#listen();
    this.#subscribe();
    this.#resized.observe(this.#canvas);
    this.#drawPlace();
    void this.#refresh();
    this.#slider.focus();
  }

  get #mayWrite() {
    return this.#note.access !== "read";
  }

  /** @param {string} author */
  #nameOf(author) {
    return shownName(author) || t("history.somebody");
  }

  /** @param {string} author */
  #faceOf(author) {
    return avatar({ name: this.#nameOf(author), color: this.#colors.get(author) ?? "" }, { label: false });
  }

  // The slider.

  /** @param {number} to @param {boolean} [isNews] Whether the move is not by the user. */
  #moveTo(to, isNews = false) {
    this.#isNews = isNews;
    this.#revision = Math.min(Math.max(to, this.#history.oldest), this.#history.head);
    this.#isAtHead = this.#revision === this.#history.head;
    this.#slider.value = String(this.#revision);
    this.#showText();
    this.#drawPlace();
  }

  /** @param {number} revision The revision chosen in the list. */
  #choose(revision) {
    this.#moveTo(revision);
    this.#closeSide();
  }

  /** Requests the text at the slider, or the changes. */
  #showText() {
    const isComparing = this.#comparing.isOn;
    if (isComparing || this.#shown !== this.#revision) this.#display.isBusy = true;
    if (isComparing) this.#comparing.want();
    else this.#history.want(this.#revision);
  }

  /** Shows the same revision in the other form. */
  #showAgain() {
    this.#shown = undefined;
    this.#isNews = false;
    this.#showText();
  }

  #drawPlace() {
    const history = this.#history;
    const revision = this.#revision;
    const version = history.versionAt(revision);
    const time = moment(history.timeOf(revision));
    const known = history.authorOf(revision);
    const author = known === undefined ? "" : this.#nameOf(known);
    const isEmpty = history.head === 0;
    const beforeFirst = revision <= history.oldest ? t("history.beforeFirst") : "";
    byId("history-avatar").replaceChildren(...(known === undefined ? [] : [this.#faceOf(known)]));
    byId("history-author").textContent = isEmpty
      ? history.isLoaded ? t("history.nothing") : ""
      : author || beforeFirst;
    byId("history-time").textContent = version ? t("history.named", { name: version.name, time }) : time;
    byId("history-count").textContent = isEmpty
      ? ""
      : this.#isAtHead ? t("history.newest", { head: history.head }) : t("history.place", { revision, head: history.head });
    const place = t("history.revisionOf", { revision, head: history.head });
    this.#slider.setAttribute(
      "aria-valuetext",
      [isolated(version?.name ?? ""), isolated(author || beforeFirst), time, place].filter(Boolean).join(t("separator")),
    );
    const span = history.head - history.oldest;
    this.#slider.style.setProperty("--at", String(span > 0 ? (revision - history.oldest) / span : 1));
    this.#drawActions(isEmpty, version);
    this.#drawCurrent();
    this.#drawComments();
  }

  /** @param {boolean} isEmpty @param {Version | undefined} version The version at the slider. */
  #drawActions(isEmpty, version) {
    byId("history-restore").hidden = byId("history-name").hidden = !this.#mayWrite;
    for (const button of this.#section.querySelectorAll(".version .icon-button")) {
      /** @type {HTMLElement} */ (button).hidden = !this.#mayWrite;
    }
    const disable = (/** @type {string} */ id, /** @type {boolean} */ isDisabled) => {
      /** @type {HTMLButtonElement} */ (byId(id)).disabled = isDisabled;
    };
    disable("history-restore", this.#isAtHead || !this.#history.isLoaded);
    disable("history-name", isEmpty);
    disable("history-compare", isEmpty);
    disable("history-back", this.#revision <= this.#history.oldest);
    disable("history-forward", this.#isAtHead);
    byId("history-name").title = byId("history-name-label").textContent = version ? t("history.rename") : t("history.name");
  }

  /** Marks the rows that contain the slider's revision. */
  #drawCurrent() {
    for (const entry of this.#section.querySelectorAll("[data-last]")) {
      const { first, last } = /** @type {HTMLElement} */ (entry).dataset;
      const isHere = Number(first) <= this.#revision && this.#revision <= Number(last);
      if (isHere) entry.setAttribute("aria-current", "true");
      else entry.removeAttribute("aria-current");
    }
  }

  /** Draws the comments that existed while the revision was the newest. */
  #drawComments() {
    const end = this.#isAtHead ? Infinity : this.#history.timeOf(this.#revision + 1) ?? Infinity;
    const comments = this.#history.isLoaded ? this.#comments.of(this.#note) : undefined;
    const threads = comments ? threadsAt(comments, this.#revision, end) : [];
    const ids = JSON.stringify(threads.map(({ first, answers }) => [first, ...answers].map(({ id, editedAt }) => [id, editedAt])));
    if (ids === this.#drawnComments) return;
    this.#drawnComments = ids;
    byId("history-comments-title").hidden = threads.length === 0;
    byId("history-comments").replaceChildren(...threads.map(threadItem));
  }

  // Drawing.

  #drawSessions() {
    const history = this.#history;
    this.#drawColors();
    this.#slider.min = String(history.oldest);
    this.#slider.max = String(history.head);
    this.#slider.disabled = history.head === 0;
    if (this.#isAtHead) this.#moveTo(history.head, true);
    else {
      this.#slider.value = String(this.#revision);
      this.#comparing.wantAgain();
    }
    this.#list.draw();
    if (this.#comparing.isOn) this.#comparing.drawChoices();
    byId("history-earlier").hidden = !history.hasEarlier;
    drawFlags(byId("history-flags"), history, (revision) => this.#moveTo(revision));
    this.#drawPlace();
  }

  /** Gives each author a colour; users who are present have their own. */
  #drawColors() {
    const authors = this.#history.authors;
    if (authors.size > 0) {
      const here = this.#note.people.map((person) => ({ name: person.name, color: colorOf(person) }));
      this.#colors = colorsOf(authors, [this.#profile, ...here], this.#colors);
      this.#display.paint(this.#colors);
    }
    byId("history-legend").replaceChildren(
      ...[...this.#colors].map(([author, color]) => {
        const item = document.createElement("li");
        const dot = document.createElement("span");
        dot.className = "legend-dot";
        dot.style.setProperty("--person", color);
        item.append(dot, isolated(this.#nameOf(author)));
        return item;
      }),
    );
    drawTrack(this.#canvas, this.#history, this.#colors);
  }

  #drawVersions() {
    byId("history-versions").replaceChildren(...this.#history.versions.map((version) => this.#versionItem(version)));
    byId("history-no-versions").hidden = this.#history.versions.length > 0;
    if (this.#comparing.isOn) this.#comparing.drawChoices();
    drawFlags(byId("history-flags"), this.#history, (revision) => this.#moveTo(revision));
    this.#drawPlace();
  }

  /** @param {Version} version */
  #versionItem(version) {
    const item = document.createElement("li");
    item.className = "version";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "group";
    button.dataset.first = button.dataset.last = String(version.revision);
    const flag = document.createElement("span");
    flag.className = "version-flag";
    flag.append(icon("flag"));
    const words = document.createElement("span");
    words.className = "group-words";
    const name = document.createElement("span");
    name.className = "group-author";
    name.dir = "auto";
    name.textContent = version.name;
    const detail = document.createElement("span");
    detail.className = "group-time";
    const time = moment(this.#history.timeOf(version.revision) ?? version.time);
    detail.textContent = version.author ? t("history.namedBy", { time, name: version.author }) : time;
    words.append(name, detail);
    button.append(flag, words);
    button.addEventListener("click", () => this.#choose(version.revision));
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "icon-button";
    remove.title = t("history.removeName");
    remove.setAttribute("aria-label", t("history.removeNameLabel", { name: version.name }));
    remove.append(icon("trash"));
    remove.addEventListener("click", () => void this.#removeName(version));
    item.append(button, remove);
    return item;
  }

  // Actions of the user.

  async #nameIt() {
    const at = this.#revision;
    const field = /** @type {HTMLInputElement} */ (byId("version-field"));
    field.value = this.#history.versionAt(at)?.name ?? "";
    const author = isolated(byId("history-author").textContent ?? "");
    byId("version-hint").textContent = [author, moment(this.#history.timeOf(at))].filter(Boolean).join(t("separator"));
    const confirmed = openDialog(/** @type {HTMLDialogElement} */ (byId("version")));
    field.select();
    if (!(await confirmed) || this.#isClosed) return;
    const name = oneLine(field.value);
    if (!name) return;
    try {
      await this.#history.name(at, name, this.#profile.name);
      announce(t("history.nameDone", { name }));
    } catch (error) {
      toast(t("history.nameFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {Version} version */
  async #removeName(version) {
    const isSure = await confirm({
      title: t("history.removeNameTitle", { name: version.name }),
      text: t("history.removeNameText"),
      yes: t("history.removeNameYes"),
    });
    if (!isSure || this.#isClosed) return;
    try {
      await this.#history.removeName(version.revision);
      this.#slider.focus();
    } catch (error) {
      toast(t("history.removeNameFailed", { reason: messageOf(error) }));
    }
  }

  async #restore() {
    const at = this.#revision;
    const name = this.#history.versionAt(at)?.name;
    const time = moment(this.#history.timeOf(at));
    const isSure = await confirm({
      title: name ? t("history.restoreVersion", { name }) : t("history.restoreTime", { time }),
      text: t("history.restoreText"),
      yes: t("restore"),
      no: t("cancel"),
      isDangerous: false,
    });
    if (!isSure || this.#isClosed) return;
    try {
      await this.#note.makeOwn(() => this.#history.restore(at, this.#profile.name));
      toast(name ? t("history.restoredVersion", { name }) : t("history.restoredTime", { time }));
      this.#leave();
    } catch (error) {
      toast(t("history.restoreFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {{from: number, to: number}} ends @param {import("./comparison.js").Hunk} part */
  async #restorePart(ends, part) {
    try {
      await this.#note.makeOwn(() => this.#history.restorePart(ends, part, this.#profile.name));
      if (this.#isClosed) return;
      toast(t("history.partRestored"));
      // Show the newest text, which contains the result.
      this.#isAtHead = true;
      await this.#refresh();
    } catch (error) {
      toast(t("history.restoreFailed", { reason: messageOf(error) }));
    }
  }

  #closeSide() {
    this.#section.classList.remove("shows-side");
    byId("history-list").setAttribute("aria-expanded", "false");
  }

  #listen() {
    const { signal } = this.#listeners;
    /** @param {string} id @param {() => void} action */
    const onClick = (id, action) => byId(id).addEventListener("click", action, { signal });
    onClick("history-close", this.#leave);
    onClick("history-name", () => void this.#nameIt());
    onClick("history-restore", () => void this.#restore());
    onClick("history-back", () => this.#moveTo(this.#history.stop(this.#revision, -1)));
    onClick("history-forward", () => this.#moveTo(this.#history.stop(this.#revision, 1)));
    onClick("history-earlier", () => {
      this.#history.fetchEarlier().catch((error) => this.#showProblem(error));
    });
    onClick("history-list", () => {
      const isOpen = this.#section.classList.toggle("shows-side");
      byId("history-list").setAttribute("aria-expanded", String(isOpen));
    });
    this.#slider.addEventListener("input", () => this.#moveTo(Number(this.#slider.value)), { signal });
    this.#slider.addEventListener("keydown", (event) => this.#stepByKey(event), { signal });
    this.#section.addEventListener("keydown", (event) => this.#leaveByKey(event), { signal });
  }

  /** @param {KeyboardEvent} event */
  #stepByKey(event) {
    if (event.key === "PageUp") this.#moveTo(this.#history.stop(this.#revision, 1));
    else if (event.key === "PageDown") this.#moveTo(this.#history.stop(this.#revision, -1));
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #leaveByKey(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (this.#section.classList.contains("shows-side")) {
      this.#closeSide();
      byId("history-list").focus();
    } else {
      this.#leave();
    }
  }

  // Events.

  #subscribe() {
    const scheduleRefresh = () => this.#scheduleRefresh();
    this.#subscriptions = [
      this.#history.on("sessions", () => this.#drawSessions()),
      this.#history.on("versions", () => this.#drawVersions()),
      this.#history.on("text", (past) => void this.#takeText(past)),
      this.#history.on("difference", (difference) => void this.#comparing.take(difference)),
      this.#history.on("failed", (error) => this.#showProblem(error)),
      // Confirmed edits of this user, and edits of others.
      this.#note.on("status", scheduleRefresh),
      this.#note.on("peers", scheduleRefresh),
      this.#comments.news.on("changed", () => this.#drawComments()),
    ];
  }

  /** @param {import("./history.js").PastText} past */
  async #takeText(past) {
    if (this.#comparing.isOn) {
      // The difference may have arrived first.
      const { from, to } = this.#comparing.ends;
      if (past.revision === to) this.#history.compare(from, to);
      return;
    }
    this.#drawColors();
    this.#shown = past.revision;
    byId("history-problem").hidden = true;
    if (!(await this.#display.showText(past, (author) => this.#nameOf(author), !this.#isNews)) || this.#isClosed) return;
    this.#section.dataset.shown = String(past.revision);
    if (past.revision === this.#revision) this.#display.isBusy = false;
    this.#drawPlace();
  }

  /**
   * @param {import("./comparison.js").Comparison} comparison
   * @param {((index: number) => void) | undefined} restore
   * @returns {Promise<boolean>} False if something else was requested since.
   */
  async #showComparison(comparison, restore) {
    this.#drawColors();
    this.#shown = undefined;
    byId("history-problem").hidden = true;
    const { from, to } = this.#comparing.ends;
    const isShown = await this.#display.showChanges(comparison, (author) => this.#nameOf(author), restore);
    if (!isShown || this.#isClosed) return false;
    this.#section.dataset.shown = `${from}-${to}`;
    this.#display.isBusy = false;
    // The focused button in the text was removed.
    if (document.activeElement === document.body) byId("history-compare").focus();
    this.#drawPlace();
    return true;
  }

  async #refresh() {
    try {
      await this.#history.refresh();
      this.#drawPlace();
    } catch (error) {
      if (!this.#isClosed && !this.#history.isLoaded) this.#showProblem(error);
    }
  }

  #scheduleRefresh() {
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      if (this.#note.revision > this.#history.head) void this.#refresh();
    }, refreshEvery);
  }

  /** @param {unknown} error */
  #showProblem(error) {
    const box = byId("history-problem");
    box.hidden = false;
    box.textContent = t("history.partFailed", { reason: messageOf(error) });
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#refreshTimer);
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#listeners.abort();
    this.#resized.disconnect();
    this.#history.close();
    this.#display.destroy();
    this.#closeSide();
    this.#section.hidden = true;
    delete this.#section.dataset.shown;
    byId("history-comparing").hidden = true;
    byId("history-compare").setAttribute("aria-pressed", "false");
    byId("history-comments-title").hidden = true;
    byId("history-problem").hidden = true;
    for (const id of ["history-sessions", "history-versions", "history-flags", "history-legend", "history-comments", "history-since"]) {
      byId(id).replaceChildren();
    }
    byId("note").inert = false;
  }
}
