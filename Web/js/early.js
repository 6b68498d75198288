// What a person types into a note before its text is here.
//
// A note has to be joined before it can be edited: that takes a round trip, or as long as the line is
// down. Nobody waits for it with typing. So a plain field stands where the text will be; what is typed
// into it goes in front of the text when that comes. Until then it outlives a reload, as edits do.

/** @typedef {{text: string, anchor: number, head: number}} Words The selection in UTF-16 units. */

const storagePrefix = "parley.early.";

export class EarlyWords {
  /** Called when words that were held back, for they were still being composed, may be taken. */
  whenComposed = () => {};

  #field;
  #storage;
  #storageKey;
  /** @type {Map<string, string>} By note. */
  #texts;
  /** @type {string | undefined} */
  #note;
  #isComposing = false;

  /**
   * @param {object} options
   * @param {HTMLTextAreaElement} options.field
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} options.storage
   * @param {string} options.owner Whose words these are: nobody else at this tab gets to see them.
   */
  constructor({ field, storage, owner }) {
    this.#field = field;
    this.#storage = storage;
    this.#storageKey = storagePrefix + owner;
    this.#texts = stored(storage, this.#storageKey);
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("compositionstart", () => (this.#isComposing = true));
    field.addEventListener("compositionend", () => {
      this.#isComposing = false;
      this.#typed();
      this.whenComposed();
    });
  }

  /** Whose words the field shows. */
  get note() {
    return this.#note;
  }

  /** Notes for which something was typed. */
  get notes() {
    return [...this.#texts.keys()];
  }

  /** Whether a word is half composed: an input method would lose it if the field went away. */
  get isComposing() {
    return this.#isComposing;
  }

  get isFocused() {
    return this.#note !== undefined && this.#field.ownerDocument.activeElement === this.#field;
  }

  /** @param {string | undefined} note Where words go now; undefined takes the field away. */
  show(note) {
    if (note === this.#note) return;
    this.#note = note;
    this.#isComposing = false;
    this.#field.value = note === undefined ? "" : this.text(note);
    this.#field.hidden = note === undefined;
  }

  focus() {
    this.#field.focus();
  }

  /** @param {string} note */
  text(note) {
    return this.#texts.get(note) ?? "";
  }

  /**
   * Gives the words out, and has them no longer.
   *
   * @param {string} note
   * @returns {Words | undefined} Undefined if there are none.
   */
  take(note) {
    const text = this.text(note);
    const isShown = note === this.#note;
    const { selectionStart, selectionEnd, selectionDirection } = this.#field;
    this.#put(note, "");
    if (!text) return undefined;
    if (!isShown) return { text, anchor: text.length, head: text.length };
    this.#field.value = "";
    const isBackward = selectionDirection === "backward";
    return {
      text,
      anchor: isBackward ? selectionEnd : selectionStart,
      head: isBackward ? selectionStart : selectionEnd,
    };
  }

  /**
   * The words were for a note that has another name now. A field that shows them stays as it is, with
   * the focus in it.
   *
   * @param {string} from
   * @param {string} to
   */
  move(from, to) {
    const text = this.text(from);
    this.#put(from, "");
    this.#put(to, text);
    if (this.#note === from) this.#note = to;
  }

  #typed() {
    if (this.#note !== undefined) this.#put(this.#note, this.#field.value);
  }

  /** @param {string} note @param {string} text */
  #put(note, text) {
    if (text) this.#texts.set(note, text);
    else if (!this.#texts.delete(note)) return;
    try {
      if (this.#texts.size > 0) this.#storage.setItem(this.#storageKey, JSON.stringify([...this.#texts]));
      else this.#storage.removeItem(this.#storageKey);
    } catch {
      // They last as long as the page then.
    }
  }
}

/** @param {Pick<Storage, "getItem">} storage @param {string} key @returns {Map<string, string>} */
function stored(storage, key) {
  try {
    /** @type {[unknown, unknown][]} */
    const entries = JSON.parse(storage.getItem(key) ?? "[]");
    const areWords = entries.every(([note, text]) => typeof note === "string" && typeof text === "string");
    return areWords ? new Map(/** @type {[string, string][]} */ (entries)) : new Map();
  } catch {
    return new Map();
  }
}
