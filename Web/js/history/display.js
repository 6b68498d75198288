// Shows a revision of the history: as text or as a page, with or without changes.

import { byId } from "../ground/dialogs.js";
import { t } from "../ground/language.js";
import { showFiles } from "../links/files.js";
import { isReading, loadRendering } from "../reading/reading.js";
import { ownerNow } from "../state/session.js";
import { lastingStore, tabStore } from "../ground/storage.js";
import { editsBetween } from "./edits.js";
import { PastPage } from "./pastpage.js";

/**
 * @typedef {import("./history.js").PastText} PastText
 * @typedef {import("./comparison.js").Comparison} Comparison
 */

const key = "parley.past";
const ownKey = () => `${key}.${ownerNow()}`;

/** @returns {boolean} As last chosen in this tab, or else by this user, or else as notes are shown. */
function isPageKept() {
  const kept = tabStore().getItem(key) ?? lastingStore().getItem(ownKey());
  return kept ? kept === "page" : isReading();
}

/** @param {boolean} isPage */
function keep(isPage) {
  try {
    tabStore().setItem(key, isPage ? "page" : "text");
    lastingStore().setItem(ownKey(), isPage ? "page" : "text");
  } catch {
    // The storage is full: the choice lasts while the history is open.
  }
}

/** Words before marks for screen readers, since the marks' roles have no names. They are invisible and not copied. */
const spoken = new CSSStyleSheet();
spoken.replaceSync(
  [["ins", t("history.insertion")], ["del", t("history.deletion")]]
    .map(([tag, words]) => `.rendered ${tag}::before { content: "\u200b" / ${JSON.stringify(`${words} `)}; }`)
    .join("\n"),
);
document.adoptedStyleSheets.push(spoken);

export class Display {
  isPage;

  #reader;
  /** @type {((text: string, format: import("./history.js").PastFormat) => DocumentFragment) | undefined} */
  #formatted;
  #noteId;
  /** @type {PastPage | undefined} */
  #page;
  /** Counts the requests to show something: only the last one is shown. */
  #wanted = 0;

  /**
   * @param {object} options
   * @param {typeof import("../editing/text.js").readerIn} options.readerIn
   * @param {string} options.noteId
   * @param {(text: string, format: import("./history.js").PastFormat) => DocumentFragment} [options.formatted] Draws a
   *   formatted text, for a formatted note.
   * @param {() => void} options.changed Called when the user switches between text and page.
   * @param {AbortSignal} options.signal
   */
  constructor({ readerIn, noteId, formatted, changed, signal }) {
    this.#noteId = noteId;
    this.#formatted = formatted;
    this.isPage = formatted !== undefined || isPageKept();
    this.#reader = readerIn({ host: byId("history-text"), editsBetween });
    const toggle = () => {
      this.isPage = !this.isPage;
      if (!formatted) keep(this.isPage);
      this.#draw();
      changed();
    };
    byId("history-read").addEventListener("click", toggle, { signal });
    this.#draw();
  }

  #draw(isPageShown = this.isPage) {
    byId("history-read").setAttribute("aria-pressed", String(this.isPage));
    byId("history-page").hidden = !isPageShown;
    byId("history-text").hidden = isPageShown;
  }

  /** @param {boolean} isBusy */
  set isBusy(isBusy) {
    for (const id of ["history-text", "history-page"]) byId(id).setAttribute("aria-busy", String(isBusy));
  }

  /** @param {Map<string, string>} colors By author. */
  paint(colors) {
    this.#reader.paint(colors);
  }

  /**
   * @param {PastText} past
   * @param {(author: string) => string} nameOf
   * @param {boolean} isFollowed Whether to scroll to what differs from the text shown before.
   * @returns {Promise<boolean>} False if something else was requested since.
   */
  async showText(past, nameOf, isFollowed) {
    this.#wanted += 1;
    if (this.#formatted) {
      this.#draw();
      if (this.isPage) return this.#showFormatted(past, this.#formatted);
    }
    if (this.isPage) return this.#showPage(past.text, past.text);
    this.#reader.show(past, nameOf, isFollowed);
    return true;
  }

  /**
   * @param {Comparison} comparison
   * @param {(author: string) => string} nameOf
   * @param {((index: number) => void) | undefined} restore Reverts a part; undefined if that is not allowed.
   * @returns {Promise<boolean>} False if something else was requested since.
   */
  async showChanges(comparison, nameOf, restore) {
    this.#wanted += 1;
    // The changes to a formatted note are those to its text.
    if (this.#formatted) this.#draw(false);
    else if (this.isPage) return this.#showPage(comparison.older, comparison.newer);
    this.#reader.showChanges(comparison, nameOf, restore);
    return true;
  }

  /** @param {PastText} past @param {(text: string, format: import("./history.js").PastFormat) => DocumentFragment} formatted */
  #showFormatted({ committed, format }, formatted) {
    const host = byId("history-page");
    host.replaceChildren(formatted(committed, format ?? { sets: [], runs: [] }));
    showFiles(host, this.#noteId);
    return true;
  }

  /** @param {string} older @param {string} newer */
  async #showPage(older, newer) {
    const mine = this.#wanted;
    const reading = await loadRendering();
    if (mine !== this.#wanted) return false;
    if (!reading) {
      this.isPage = false;
      this.#draw();
      return false;
    }
    this.#page ??= new PastPage({ host: byId("history-page"), reading, noteId: this.#noteId });
    return this.#page.show(older, newer);
  }

  /** Whether the shown parts are those of the text, which can be restored. */
  get showsPartsOfText() {
    return !this.isPage || this.#formatted !== undefined;
  }

  /** @param {Comparison} comparison @returns {number} The number of changed parts shown. */
  partCount({ hunks }) {
    return this.showsPartsOfText ? hunks.length : (this.#page?.changedCount ?? 0);
  }

  /** @param {Comparison} comparison @param {number} index The part to scroll to. */
  reveal({ hunks }, index) {
    const hunk = hunks[index];
    if (!this.showsPartsOfText) this.#page?.reveal(index);
    else if (hunk) this.#reader.reveal(hunk);
  }

  destroy() {
    this.#wanted += 1;
    this.#reader.destroy();
    this.#page?.destroy();
    byId("history-page").hidden = true;
    byId("history-text").hidden = false;
  }
}
