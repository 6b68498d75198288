// Shows the text in its authors' colours in the editor.

import { ChangeSet, Compartment, Decoration, EditorView, RangeSetBuilder, StateEffect, Transaction, ViewPlugin } from "../codemirror.js";
import { byId } from "../ground/dialogs.js";
import { isolated, t } from "../ground/language.js";
import { myName } from "../people/me.js";
import { colorOf, shownName } from "../state/people.js";
import { request } from "../client/http.js";
import { profile } from "../state/session.js";
import { colorsOf, runsOf } from "./history.js";
import { authorsAfter, writtenBy } from "./writtenby.js";

/** @typedef {import("../state/shownnote.js").ShownNote} ShownNote */

/** Minimum delay of a request after others' edits: this (milliseconds), or this multiple of the last answer's cost. */
const askedAfter = 1_000;
const costShare = 20;
/** Maximum UTF-16 units of a text that is fetched as a whole; of a longer one, only the difference is fetched. */
const wholeMax = 100_000;

class AuthorColours {
  #view;
  #note;
  #path;
  #written = writtenBy({ me: myName, isOwn: (transaction) => !transaction.annotation(Transaction.remote) });
  #place = new Compartment();
  #sheet = new CSSStyleSheet();
  #legend = document.createElement("ul");
  /** @type {Map<string, string>} */
  #colors = new Map();
  /** @type {Map<string, number>} */
  #numbers = new Map();
  /** @type {{revision: number, authors: {author: string, count: number}[]} | undefined} The server's last answer. */
  #base;
  /** @type {ChangeSet | undefined} Changes of the text since the pending request. */
  #since;
  #isStale = true;
  #cost = 0;
  /** @type {any} */
  #timer;
  #isGone = false;
  #subscription;

  /** @param {EditorView} view @param {ShownNote} note */
  constructor(view, note) {
    this.#view = view;
    this.#note = note;
    this.#path = `/api/notes/${encodeURIComponent(note.documentId)}`;
    const root = /** @type {ShadowRoot} */ (view.dom.getRootNode());
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, this.#sheet];
    this.#legend.className = "authors-legend";
    this.#legend.setAttribute("aria-label", t("history.authors"));
    byId("count").before(this.#legend);
    view.dispatch({ effects: StateEffect.appendConfig.of(this.#place.of([this.#written.field, this.#drawing()])) });
    this.#subscription = note.on("status", () => this.#ask());
    this.#ask();
  }

  #drawing() {
    const colours = this;
    return ViewPlugin.fromClass(
      class {
        marks;

        /** @param {EditorView} view */
        constructor(view) {
          this.marks = colours.#marks(view);
        }

        /** @param {import("../codemirror.js").ViewUpdate} update */
        update(update) {
          colours.#follow(update);
          this.marks = colours.#marks(update.view);
        }
      },
      { decorations: (/** @type {{marks: any}} */ { marks }) => marks },
    );
  }

  /** @param {EditorView} view @returns {any} Decorations of the visible text only. */
  #marks(view) {
    const builder = new RangeSetBuilder();
    for (const part of view.visibleRanges) {
      for (const { author, from, to } of this.#written.runs(view.state, part.from, part.to)) {
        const [start, end] = [Math.max(from, part.from), Math.min(to, part.to)];
        if (start < end) builder.add(start, end, this.#markOf(author));
      }
    }
    return builder.finish();
  }

  /** @param {string} author */
  #markOf(author) {
    let number = this.#numbers.get(author);
    if (number === undefined) this.#numbers.set(author, (number = this.#numbers.size));
    if (!this.#colors.has(author)) this.#paint([author]);
    return Decoration.mark({ class: `written written-${number}`, attributes: { title: shownName(author) || t("history.somebody") } });
  }

  /** @param {import("../codemirror.js").ViewUpdate} update */
  #follow({ docChanged, selectionSet, changes, transactions, state }) {
    if (docChanged && this.#since) this.#since = /** @type {any} */ (this.#since).compose(changes);
    const isOthers = transactions.some((one) => one.docChanged && one.annotation(Transaction.remote));
    if (isOthers) {
      this.#isStale = true;
      this.#askSoon();
    }
    if (docChanged || selectionSet) this.#drawHere(state);
  }

  #askSoon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#ask();
    }, Math.max(askedAfter, costShare * this.#cost));
  }

  /** Requests the authors of the current text, once the server has confirmed all of it. */
  #ask() {
    const note = this.#note;
    if (!this.#isStale || this.#since || this.#timer || this.#isGone || note.unconfirmedCount > 0 || note.phase !== "live") return;
    this.#isStale = false;
    const text = note.ends?.text ?? note.text ?? "";
    const revision = note.revision;
    const { doc } = this.#view.state;
    this.#since = ChangeSet.of([], doc.length);
    this.#fetchAuthors(revision).then(
      (authors) => {
        const [since, begin] = [this.#since, performance.now()];
        this.#since = undefined;
        if (this.#isGone || !since) return;
        this.#base = { revision, authors };
        const runs = runsOf(text, authors);
        // While a word is being composed, others' changes are held back, and the lengths differ.
        if ((runs[runs.length - 1]?.to ?? 0) === doc.length) this.#take(runs, since);
        else this.#isStale = true;
        this.#cost = performance.now() - begin;
        if (this.#isStale) this.#askSoon();
      },
      (error) => {
        console.warn(error);
        this.#since = undefined;
        this.#isStale = true;
        if (!this.#isGone) this.#askSoon();
      },
    );
  }

  /** @param {number} revision */
  async #fetchAuthors(revision) {
    const base = this.#base;
    this.#base = undefined;
    if (base && base.revision === revision) return base.authors;
    // Only for long texts: a difference may mark another blank beside a new word than the one that was typed.
    if (base && base.revision < revision && this.#view.state.doc.length > wholeMax) {
      const { parts } = await request(`${this.#path}/diff?from=${base.revision}&to=${revision}`);
      return authorsAfter(base.authors, parts);
    }
    return (await request(`${this.#path}/text?revision=${revision}`)).authors;
  }

  /** @param {import("./writtenby.js").Run[]} runs @param {ChangeSet} since */
  #take(runs, since) {
    const { state } = this.#view;
    const all = this.#written.after(state, runs, since);
    this.#paint(all.map(({ author }) => author));
    this.#view.dispatch({ effects: this.#written.become(all) });
    this.#drawLegend();
  }

  /** @param {string[]} authors */
  #paint(authors) {
    const here = this.#note.people.map((person) => ({ name: person.name, color: colorOf(person) }));
    const all = new Set([...this.#colors.keys(), ...authors]);
    this.#colors = colorsOf(all, [{ name: myName(), color: profile.color }, ...here], this.#colors);
    for (const author of this.#colors.keys()) if (!this.#numbers.has(author)) this.#numbers.set(author, this.#numbers.size);
    this.#sheet.replaceSync(
      [...this.#colors].map(([author, color]) => `.written-${this.#numbers.get(author)} { --written: ${color}; }`).join("\n"),
    );
  }

  #drawLegend() {
    this.#legend.replaceChildren(
      ...[...this.#colors].map(([author, color]) => {
        const item = document.createElement("li");
        item.dataset.author = author;
        const dot = document.createElement("span");
        dot.className = "legend-dot";
        dot.style.setProperty("--person", color);
        item.append(dot, isolated(shownName(author) || t("history.somebody")));
        return item;
      }),
    );
    this.#drawHere(this.#view.state);
  }

  /**
   * Marks the author of the text at the caret in the legend.
   *
   * @param {any} state
   */
  #drawHere(state) {
    const { head } = state.selection.main;
    const author = this.#written.runs(state, head, head).find(({ from, to }) => from < head && head <= to)?.author;
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (this.#legend.querySelectorAll("li"))) {
      if (item.dataset.author === author) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
  }

  end() {
    this.#isGone = true;
    clearTimeout(this.#timer);
    this.#subscription();
    this.#legend.remove();
    const root = /** @type {ShadowRoot} */ (byId("editor").shadowRoot);
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
    if (this.#view.dom.isConnected) this.#view.dispatch({ effects: this.#place.reconfigure([]) });
  }
}

/**
 * Shows who wrote a note's text in its editor.
 *
 * @param {EditorView} view
 * @param {ShownNote} note
 * @returns {() => void} Hides the authors.
 */
export function showAuthors(view, note) {
  const colours = new AuthorColours(view, note);
  return () => colours.end();
}
