// The list of a note's history: sessions, newest first. An opened session lists its people and their changes.

import { icon } from "../ground/dialogs.js";
import { language, t } from "../ground/language.js";
import { amounts, moment, span } from "./moments.js";
import { amountsOf } from "./sessions.js";

/**
 * @typedef {import("./history.js").Group} Group
 * @typedef {import("./history.js").NoteHistory} NoteHistory
 * @typedef {import("./sessions.js").Session} Session
 */

/** Maximum faces in a session's row. */
const facesMax = 3;

const names = new Intl.ListFormat(language, { type: "conjunction", style: "narrow" });

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
function words(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/**
 * Creates a row: faces, a name, a time and an amount.
 *
 * @param {object} row
 * @param {(Node | string)[]} row.faces
 * @param {string} row.name
 * @param {string} row.time
 * @param {string} row.amount
 * @param {{first: number, last: number}} row.revisions
 * @param {() => void} row.choose
 */
function rowButton({ faces, name, time, amount, revisions, choose }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "group";
  button.dataset.first = String(revisions.first);
  button.dataset.last = String(revisions.last);
  const face = words("span", "group-faces", "");
  face.append(...faces);
  const author = words("span", "group-author", name);
  author.dir = "auto";
  const text = words("span", "group-words", "");
  text.append(author);
  if (time) text.append(words("span", "group-time", time));
  button.append(face, text, words("span", "group-amount", amount));
  button.addEventListener("click", choose);
  return button;
}

/** Draws the sessions into a list. */
export class SessionList {
  #list;
  #history;
  #options;
  /** @type {Set<number>} One revision of each opened session. */
  #opened = new Set();
  /** @type {Map<Element, {kind: string, firstRevision: number, lastRevision: number}>} The buttons in the list. */
  #buttons = new Map();

  /**
   * @param {object} options
   * @param {HTMLElement} options.list
   * @param {NoteHistory} options.history
   * @param {(author: string) => string} options.nameOf
   * @param {(author: string) => Node} options.faceOf
   * @param {(revision: number) => void} options.choose
   * @param {(error: unknown) => void} options.failed
   */
  constructor(options) {
    this.#options = options;
    this.#list = options.list;
    this.#history = options.history;
  }

  /** Draws all sessions, and preserves the focus. */
  draw() {
    const focused = document.activeElement && this.#buttons.get(document.activeElement);
    this.#buttons.clear();
    this.#list.replaceChildren(...this.#history.sessions.map((session) => this.#sessionItem(session)));
    if (!focused) return;
    // A session grows at its end while people write, and at its start when earlier ones are loaded.
    for (const [button, { kind, firstRevision, lastRevision }] of this.#buttons) {
      if (kind !== focused.kind || firstRevision > focused.lastRevision || lastRevision < focused.firstRevision) continue;
      /** @type {HTMLElement} */ (button).focus();
      return;
    }
  }

  /** @param {Element} button @param {string} kind @param {{firstRevision: number, lastRevision: number}} revisions */
  #remember(button, kind, { firstRevision, lastRevision }) {
    this.#buttons.set(button, { kind, firstRevision, lastRevision });
  }

  /** @param {Session} session */
  #isOpen({ firstRevision, lastRevision }) {
    return [...this.#opened].some((revision) => firstRevision <= revision && revision <= lastRevision);
  }

  /** @param {Session} session */
  #toggle(session) {
    if (!this.#isOpen(session)) this.#opened.add(session.firstRevision);
    else {
      for (const revision of [...this.#opened]) {
        if (session.firstRevision <= revision && revision <= session.lastRevision) this.#opened.delete(revision);
      }
      this.#history.closeSession(session);
    }
    this.draw();
  }

  /** @param {Session} session */
  #sessionItem(session) {
    const { firstRevision, lastRevision, firstTime, lastTime, authors } = session;
    const item = document.createElement("li");
    item.className = "session";
    const name = names.format(authors.map(({ author }) => this.#options.nameOf(author)));
    const time = session.cut ? t("history.sessionUntil", { time: moment(lastTime) }) : span(firstTime, lastTime);
    const row = rowButton({
      faces: authors.slice(0, facesMax).map(({ author }) => this.#options.faceOf(author)),
      name,
      time,
      amount: amounts(amountsOf(session)),
      revisions: { first: firstRevision, last: lastRevision },
      choose: () => this.#options.choose(lastRevision),
    });
    this.#remember(row, "session", session);
    const isOpen = this.#isOpen(session);
    const toggle = document.createElement("button");
    toggle.type = "button";
    toggle.className = "icon-button session-toggle";
    this.#remember(toggle, "toggle", session);
    toggle.setAttribute("aria-expanded", String(isOpen));
    toggle.setAttribute("aria-label", t("history.sessionOpen", { name, time }));
    toggle.title = isOpen ? t("history.sessionClose") : t("history.sessionDetails");
    toggle.append(icon("chevron"));
    toggle.addEventListener("click", () => this.#toggle(session));
    const head = words("div", "session-row", "");
    head.append(row, toggle);
    item.append(head);
    if (isOpen) item.append(this.#people(session), ...this.#changes(session));
    return item;
  }

  /** @param {Session} session */
  #people(session) {
    const list = document.createElement("ul");
    list.className = "session-people";
    list.setAttribute("aria-label", t("history.people"));
    list.append(
      ...session.authors.map((part) => {
        const item = document.createElement("li");
        const row = rowButton({
          faces: [this.#options.faceOf(part.author)],
          name: this.#options.nameOf(part.author),
          time: t("history.changeCount", { count: part.changes }),
          amount: amounts(part),
          revisions: { first: part.lastRevision, last: part.lastRevision },
          choose: () => this.#options.choose(part.lastRevision),
        });
        this.#remember(row, `person ${part.author}`, session);
        item.append(row);
        return item;
      }),
    );
    return list;
  }

  /**
   * Returns the list of a session's loaded changes, and a button that loads more.
   *
   * @param {Session} session
   */
  #changes(session) {
    const changes = this.#history.changesOf(session);
    const parts = [];
    if (changes) {
      const list = document.createElement("ol");
      list.className = "session-changes";
      list.reversed = true;
      list.setAttribute("aria-label", t("history.changes"));
      list.append(...[...changes.groups].reverse().map((group) => this.#changeItem(group)));
      parts.push(list);
    }
    if (!changes || changes.after >= session.firstRevision) {
      const more = document.createElement("button");
      more.type = "button";
      more.className = "button small";
      this.#remember(more, "more", session);
      more.textContent = changes ? t("history.earlier") : t("history.singleChanges");
      more.addEventListener("click", () => {
        more.disabled = true;
        this.#history.openSession(session).catch((error) => {
          more.disabled = false;
          this.#options.failed(error);
        });
      });
      parts.push(more);
    }
    return parts;
  }

  /** @param {Group} group */
  #changeItem(group) {
    const item = document.createElement("li");
    const row = rowButton({
      faces: [this.#options.faceOf(group.author)],
      name: this.#options.nameOf(group.author),
      time: moment(group.lastTime),
      amount: amounts(group),
      revisions: { first: group.firstRevision, last: group.lastRevision },
      choose: () => this.#options.choose(group.lastRevision),
    });
    this.#remember(row, "change", group);
    item.append(row);
    return item;
  }
}
