// The history of a note, over the note: a slider through its revisions, the text at each, and the
// names people gave to some. The live editor stays as it is underneath.

import { announce, byId, confirm, icon, openDialog, toast } from "../shell/dialogs.js";
import { NoteHistory, colorsOf } from "./history.js";
import { request } from "../client/http.js";
import { dateFormat, isolated, locale, t } from "../shell/language.js";
import { oneLine } from "../oneline.js";
import { threadItem, threadsAt } from "./pastcomments.js";
import { avatar, colorOf, shownName } from "../people/people.js";
import { messageOf } from "../words.js";

/**
 * @typedef {import("../client/note.js").Note} Note
 * @typedef {import("./history.js").Group} Group
 * @typedef {import("./history.js").Version} Version
 */

/** How many groups the list shows at first, and how many more at a time. */
const groupsShown = 100;
/** After others' edits, the history is fetched again at most so often; milliseconds. */
const refreshEvery = 1_000;

const timeOfDay = dateFormat({ timeStyle: "short" });
const dayAndTime = dateFormat({ dateStyle: "medium", timeStyle: "short" });

/** @param {number | undefined} time Milliseconds. */
function moment(time) {
  if (time === undefined) return "";
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? t("when.today", { time: timeOfDay.format(date) }) : dayAndTime.format(date);
}

const withSign = new Intl.NumberFormat(locale, { signDisplay: "always" });

/** @param {Group} group */
function amounts({ inserted, deleted }) {
  const parts = [];
  if (inserted > 0) parts.push(withSign.format(inserted));
  if (deleted > 0) parts.push(withSign.format(-deleted).replace("-", "−"));
  return parts.join(" ");
}

/**
 * Opens the history over the note.
 *
 * @param {object} options
 * @param {Note} options.note
 * @param {() => string} options.title
 * @param {{name: string, color: string}} options.profile
 * @param {typeof import("../editing/text.js").readerIn} options.readerIn
 * @param {() => void} options.leave Asked for by the person: the caller then calls `close`.
 */
export function openHistory({ note, title, profile, readerIn, leave }) {
  const history = new NoteHistory({ documentId: note.documentId });
  const section = byId("history");
  const slider = /** @type {HTMLInputElement} */ (byId("history-slider"));
  const canvas = /** @type {HTMLCanvasElement} */ (byId("history-canvas"));
  section.hidden = false;
  byId("note").inert = true;
  byId("history-note").textContent = title();
  const reader = readerIn({ host: byId("history-text") });

  /** The revision the slider stands at. */
  let revision = 0;
  /** Whether it stays at the newest as that moves on. */
  let isAtHead = true;
  /** @type {number | undefined} The revision whose text is shown. */
  let shown;
  let listed = groupsShown;
  /** @type {Map<string, string>} */
  let colors = new Map();
  /** @type {import("./pastcomments.js").Answer | undefined} */
  let comments;
  /** Of the comments that are shown, the ids. */
  let drawnComments = "";
  /** @type {any} */
  let refreshTimer;
  let isClosed = false;

  const nameOf = (/** @type {string} */ author) => shownName(author) || t("history.somebody");
  /** @param {string} author */
  const faceOf = (author) =>
    avatar({ name: nameOf(author), color: colors.get(author) ?? "" }, { label: false });

  // Where the slider stands.

  /** @param {number} to */
  function moveTo(to) {
    revision = Math.min(Math.max(to, history.oldest), history.head);
    isAtHead = revision === history.head;
    slider.value = String(revision);
    if (shown !== revision) byId("history-text").setAttribute("aria-busy", "true");
    history.want(revision);
    drawPlace();
  }

  function drawPlace() {
    const group = history.groupAt(revision);
    const version = history.versionAt(revision);
    const time = moment(history.timeOf(revision));
    const author = group ? nameOf(group.author) : "";
    const isEmpty = history.head === 0;
    byId("history-avatar").replaceChildren(...(group ? [faceOf(group.author)] : []));
    byId("history-author").textContent = isEmpty
      ? history.isLoaded ? t("history.nothing") : ""
      : author || t("history.beforeFirst");
    byId("history-time").textContent = version ? t("history.named", { name: version.name, time }) : time;
    byId("history-count").textContent = isEmpty
      ? ""
      : isAtHead ? t("history.newest", { head: history.head }) : t("history.place", { revision, head: history.head });
    slider.setAttribute(
      "aria-valuetext",
      [
        isolated(version?.name ?? ""),
        isolated(author || t("history.beforeFirst")),
        time,
        t("history.revisionOf", { revision, head: history.head }),
      ]
        .filter(Boolean)
        .join(t("separator")),
    );
    const span = history.head - history.oldest;
    slider.style.setProperty("--at", String(span > 0 ? (revision - history.oldest) / span : 1));
    const canWrite = note.access !== "read";
    byId("history-restore").hidden = byId("history-name").hidden = !canWrite;
    for (const button of section.querySelectorAll(".version .icon-button")) {
      /** @type {HTMLElement} */ (button).hidden = !canWrite;
    }
    /** @type {HTMLButtonElement} */ (byId("history-restore")).disabled = isAtHead || !history.isLoaded;
    /** @type {HTMLButtonElement} */ (byId("history-name")).disabled = isEmpty;
    byId("history-name-label").textContent = version ? t("history.rename") : t("history.name");
    /** @type {HTMLButtonElement} */ (byId("history-back")).disabled = revision <= history.oldest;
    /** @type {HTMLButtonElement} */ (byId("history-forward")).disabled = isAtHead;
    for (const entry of section.querySelectorAll("[data-last]")) {
      const { first, last } = /** @type {HTMLElement} */ (entry).dataset;
      const isHere = Number(first) <= revision && revision <= Number(last);
      if (isHere) entry.setAttribute("aria-current", "true");
      else entry.removeAttribute("aria-current");
    }
    drawComments();
  }

  /** The comments that stood while the revision was the newest. */
  function drawComments() {
    const end = isAtHead ? Infinity : history.timeOf(revision + 1) ?? Infinity;
    const threads = comments && history.isLoaded ? threadsAt(comments, revision, end) : [];
    const ids = JSON.stringify(threads.map(({ first, answers }) => [first, ...answers].map(({ id, editedAt }) => [id, editedAt])));
    if (ids === drawnComments) return;
    drawnComments = ids;
    byId("history-comments-title").hidden = threads.length === 0;
    byId("history-comments").replaceChildren(...threads.map(threadItem));
  }

  // What there is.

  function drawGroups() {
    if (history.groups.length > 0) {
      const here = note.people.map((person) => ({ name: person.name, color: colorOf(person) }));
      colors = colorsOf(history.authors, [profile, ...here]);
      reader.paint(colors);
    }
    slider.min = String(history.oldest);
    slider.max = String(history.head);
    slider.disabled = history.head === 0;
    if (isAtHead) moveTo(history.head);
    else slider.value = String(revision);
    const newest = history.groups.slice(-listed).reverse();
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const list = byId("history-groups");
    const key = list.contains(focused) ? focused?.dataset.first : undefined;
    list.replaceChildren(...newest.map(groupEntry));
    if (key) /** @type {HTMLElement | null} */ (list.querySelector(`[data-first="${key}"]`))?.focus();
    byId("history-earlier").hidden = history.groups.length <= listed;
    byId("history-legend").replaceChildren(
      ...[...colors].map(([author, color]) => {
        const item = document.createElement("li");
        const dot = document.createElement("span");
        dot.className = "legend-dot";
        dot.style.setProperty("--person", color);
        item.append(dot, isolated(nameOf(author)));
        return item;
      }),
    );
    drawTrack();
    drawFlags();
    drawPlace();
  }

  /** @param {Group} group */
  function groupEntry(group) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "group";
    button.dataset.first = String(group.firstRevision);
    button.dataset.last = String(group.lastRevision);
    const words = document.createElement("span");
    words.className = "group-words";
    const name = document.createElement("span");
    name.className = "group-author";
    name.dir = "auto";
    name.textContent = nameOf(group.author);
    const time = document.createElement("span");
    time.className = "group-time";
    time.textContent = moment(group.lastTime);
    words.append(name, time);
    const amount = document.createElement("span");
    amount.className = "group-amount";
    amount.textContent = amounts(group);
    button.append(faceOf(group.author), words, amount);
    button.addEventListener("click", () => {
      moveTo(group.lastRevision);
      closeSide();
    });
    item.append(button);
    return item;
  }

  function drawVersions() {
    byId("history-versions").replaceChildren(
      ...history.versions.map((version) => {
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
        const time = moment(history.timeOf(version.revision) ?? version.time);
        detail.textContent = version.author ? t("history.namedBy", { time, name: version.author }) : time;
        words.append(name, detail);
        button.append(flag, words);
        button.addEventListener("click", () => {
          moveTo(version.revision);
          closeSide();
        });
        const remove = document.createElement("button");
        remove.type = "button";
        remove.className = "icon-button";
        remove.title = t("history.removeName");
        remove.setAttribute("aria-label", t("history.removeNameLabel", { name: version.name }));
        remove.append(icon("trash"));
        remove.addEventListener("click", () => void removeName(version));
        item.append(button, remove);
        return item;
      }),
    );
    byId("history-no-versions").hidden = history.versions.length > 0;
    drawFlags();
    drawPlace();
  }

  /** One stripe for each group, in its author's colour, as wide as its revisions. */
  function drawTrack() {
    const { width, height } = canvas.getBoundingClientRect();
    const context = canvas.getContext("2d");
    if (!context || width === 0) return;
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    const span = Math.max(1, history.head - history.oldest);
    const scale = canvas.width / span;
    // A gap between groups, where they are wide enough to be told apart.
    const gap = scale * span > 6 * history.groups.length * devicePixelRatio ? devicePixelRatio : 0;
    for (const { firstRevision, lastRevision, author } of history.groups) {
      const from = (firstRevision - 1 - history.oldest) * scale;
      const to = (lastRevision - history.oldest) * scale;
      context.fillStyle = colors.get(author) ?? "gray";
      context.fillRect(from, 0, Math.max(1, to - from - gap), canvas.height);
    }
  }

  function drawFlags() {
    const span = Math.max(1, history.head - history.oldest);
    byId("history-flags").replaceChildren(
      ...history.versions.map((version) => {
        const flag = document.createElement("button");
        flag.type = "button";
        flag.className = "track-flag";
        // The list beside has the same, for the keyboard and for screen readers.
        flag.tabIndex = -1;
        flag.setAttribute("aria-hidden", "true");
        flag.title = version.name;
        flag.style.insetInlineStart = `${(100 * (version.revision - history.oldest)) / span}%`;
        flag.append(icon("flag"));
        flag.addEventListener("click", () => moveTo(version.revision));
        return flag;
      }),
    );
  }

  // What the person does.

  async function nameIt() {
    const at = revision;
    const field = /** @type {HTMLInputElement} */ (byId("version-field"));
    field.value = history.versionAt(at)?.name ?? "";
    byId("version-hint").textContent = [isolated(byId("history-author").textContent ?? ""), moment(history.timeOf(at))]
      .join(t("separator"));
    const confirmed = openDialog(/** @type {HTMLDialogElement} */ (byId("version")));
    field.select();
    if (!(await confirmed) || isClosed) return;
    const name = oneLine(field.value);
    if (!name) return;
    try {
      await history.name(at, name, profile.name);
      announce(t("history.nameDone", { name }));
    } catch (error) {
      toast(t("history.nameFailed", { reason: messageOf(error) }));
    }
  }

  /** @param {Version} version */
  async function removeName(version) {
    const isSure = await confirm({
      title: t("history.removeNameTitle", { name: version.name }),
      text: t("history.removeNameText"),
      yes: t("history.removeNameYes"),
    });
    if (!isSure || isClosed) return;
    try {
      await history.removeName(version.revision);
      slider.focus();
    } catch (error) {
      toast(t("history.removeNameFailed", { reason: messageOf(error) }));
    }
  }

  async function restore() {
    const at = revision;
    const name = history.versionAt(at)?.name;
    const time = moment(history.timeOf(at));
    const isSure = await confirm({
      title: name ? t("history.restoreVersion", { name }) : t("history.restoreTime", { time }),
      text: t("history.restoreText"),
      yes: t("restore"),
      no: t("cancel"),
      isDangerous: false,
    });
    if (!isSure || isClosed) return;
    try {
      await note.makeOwn(() => history.restore(at, profile.name));
      toast(name ? t("history.restoredVersion", { name }) : t("history.restoredTime", { time }));
      leave();
    } catch (error) {
      toast(t("history.restoreFailed", { reason: messageOf(error) }));
    }
  }

  function closeSide() {
    section.classList.remove("shows-side");
    byId("history-list").setAttribute("aria-expanded", "false");
  }

  const listeners = new AbortController();
  const { signal } = listeners;
  /** @param {string} id @param {() => void} action */
  const onClick = (id, action) => byId(id).addEventListener("click", action, { signal });
  onClick("history-close", leave);
  onClick("history-name", () => void nameIt());
  onClick("history-restore", () => void restore());
  onClick("history-back", () => moveTo(history.stop(revision, -1)));
  onClick("history-forward", () => moveTo(history.stop(revision, 1)));
  onClick("history-earlier", () => {
    listed += groupsShown;
    drawGroups();
  });
  onClick("history-list", () => {
    const isOpen = section.classList.toggle("shows-side");
    byId("history-list").setAttribute("aria-expanded", String(isOpen));
  });
  slider.addEventListener("input", () => moveTo(Number(slider.value)), { signal });
  slider.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "PageUp") moveTo(history.stop(revision, 1));
      else if (event.key === "PageDown") moveTo(history.stop(revision, -1));
      else return;
      event.preventDefault();
    },
    { signal },
  );
  section.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      if (section.classList.contains("shows-side")) {
        closeSide();
        byId("history-list").focus();
      } else {
        leave();
      }
    },
    { signal },
  );
  const resized = new ResizeObserver(drawTrack);
  resized.observe(canvas);

  // What happens meanwhile.

  async function fetchComments() {
    try {
      comments = await request(`/api/notes/${encodeURIComponent(note.documentId)}/comments`);
      if (!isClosed) drawComments();
    } catch {
      // The text can be looked at without them.
    }
  }

  async function refresh() {
    void fetchComments();
    try {
      await history.refresh();
      drawPlace();
    } catch (error) {
      if (!isClosed && !history.isLoaded) showProblem(error);
    }
  }

  function scheduleRefresh() {
    refreshTimer ??= setTimeout(() => {
      refreshTimer = undefined;
      if (note.revision > history.head) void refresh();
    }, refreshEvery);
  }

  /** @param {unknown} error */
  function showProblem(error) {
    const box = byId("history-problem");
    box.hidden = false;
    box.textContent = t("history.partFailed", { reason: messageOf(error) });
  }

  const subscriptions = [
    history.on("groups", drawGroups),
    history.on("versions", drawVersions),
    history.on("text", (past) => {
      shown = past.revision;
      byId("history-problem").hidden = true;
      reader.show(past, nameOf);
      section.dataset.shown = String(past.revision);
      if (past.revision === revision) byId("history-text").setAttribute("aria-busy", "false");
      drawPlace();
    }),
    history.on("failed", showProblem),
    // Its own edits, once confirmed, and those of others.
    note.on("status", scheduleRefresh),
    note.on("peers", scheduleRefresh),
  ];
  drawPlace();
  void refresh();
  slider.focus();

  return {
    close() {
      isClosed = true;
      clearTimeout(refreshTimer);
      for (const unsubscribe of subscriptions) unsubscribe();
      listeners.abort();
      resized.disconnect();
      history.close();
      reader.destroy();
      closeSide();
      section.hidden = true;
      delete section.dataset.shown;
      byId("history-comments-title").hidden = true;
      byId("history-problem").hidden = true;
      for (const id of ["history-groups", "history-versions", "history-flags", "history-legend", "history-comments"]) {
        byId(id).replaceChildren();
      }
      byId("note").inert = false;
    },
  };
}
