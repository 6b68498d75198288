// <parley-note src="https://notes.example.org/n/welcome">: a shared text in any page, with one line of HTML.

import { connect } from "./client.js";
import { ParleyError } from "./errors.js";
import { bind } from "./plaintext.js";

/** @typedef {import("./client.js").Parley} Parley */

/**
 * The connections that elements without a token share, by gateway and name.
 *
 * @type {Map<string, {count: number, parley: Promise<Parley>}>}
 */
const connections = new Map();

const style = `
  :host { display: flex; flex-direction: column; min-block-size: 8em;
    font: var(--parley-font, 1rem/1.5 system-ui, sans-serif);
    color: var(--parley-text, CanvasText); background: var(--parley-background, Canvas);
    border: var(--parley-border, 1px solid GrayText); border-radius: var(--parley-radius, 6px); overflow: hidden; }
  :host([hidden]) { display: none; }
  textarea { flex: 1; box-sizing: border-box; inline-size: 100%; min-block-size: 4em;
    padding: var(--parley-padding, 0.75em); border: 0; resize: none;
    font: inherit; color: inherit; background: transparent; }
  textarea:focus-visible { outline: 2px solid var(--parley-accent, Highlight); outline-offset: -2px; }
  footer { display: flex; gap: 1em; justify-content: space-between; padding: 0.25em var(--parley-padding, 0.75em);
    font-size: 0.85em; border-block-start: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
  [part~="people"] { display: flex; gap: 0.4em; margin: 0; padding: 0; list-style: none; overflow: hidden; }
  [part~="person"] { white-space: nowrap; }
  [part~="person"]::before { content: "●"; color: var(--person); margin-inline-end: 0.25em; }
`;

const words = {
  opening: "Opening…",
  live: "Saved",
  away: "No connection. Your changes are kept.",
  failed: "This note cannot be opened.",
  deleted: "This note was deleted.",
  closed: "",
};

/**
 * Splits a note's address into the gateway's and the note's id.
 *
 * @param {string} src `…/n/ID`
 */
export function partsOf(src) {
  const match = /^(.*\/)n\/([^/?#]+)\/?(?:[?#].*)?$/.exec(src);
  if (!match?.[1] || !match[2]) {
    // The message leaves out the address, which may contain a link's token.
    throw new ParleyError("invalid", "expected src to be a note's address, …/n/ID");
  }
  return { gateway: match[1], id: decodeURIComponent(match[2]) };
}

const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

/**
 * A shared text area; below it, the people present and the state of saving.
 *
 * Attributes: `src`, the note's address; `name`, the display name; `placeholder`; `label`, the text area's name for
 * assistive software. Property `token`: a function that returns the user's token; set it before the element is inserted
 * into the page. Parts: `text`, `status`, `people`, `person`, `footer`. Event `parley-error` with a `ParleyError`.
 */
export class ParleyNoteElement extends Base {
  // This is not a static field, because esbuild would then rewrite all private members of the class: 1 kB more.
  static get observedAttributes() {
    return ["src", "placeholder", "label"];
  }

  /** @type {import("./note.js").SharedNote | undefined} The note, once it is connected. */
  note;

  /** @type {import("./client.js").Options["token"]} */
  #token;
  #hasBegun = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  #attempts = 0;
  #area;
  #status;
  #people;
  /** @type {(() => void) | undefined} */
  #leave;
  #round = 0;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    const document = this.ownerDocument;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    this.#area = document.createElement("textarea");
    this.#area.setAttribute("part", "text");
    this.#area.setAttribute("aria-label", "Shared text");
    this.#area.readOnly = true;
    const footer = document.createElement("footer");
    footer.setAttribute("part", "footer");
    this.#status = document.createElement("span");
    this.#status.setAttribute("part", "status");
    this.#status.setAttribute("role", "status");
    this.#people = document.createElement("ul");
    this.#people.setAttribute("part", "people");
    this.#people.setAttribute("aria-label", "Also here");
    footer.append(this.#status, this.#people);
    root.append(this.#area, footer);
  }

  /** Returns the user's token; set before the element is inserted into the page. */
  get token() {
    return this.#token;
  }

  set token(token) {
    this.#token = token;
    if (this.#hasBegun) void this.#open();
  }

  connectedCallback() {
    if (Object.hasOwn(this, "token")) {
      // The property was set before this class was defined.
      const { token } = this;
      delete (/** @type {any} */ (this).token);
      this.#token = token;
    }
    // An element that is moved within the page retains its connection.
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    void this.#open();
  }

  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#hasBegun = false;
      this.#close();
    });
  }

  /** @param {string} name @param {string | null} former @param {string | null} value */
  attributeChangedCallback(name, former, value) {
    if (name === "placeholder") this.#area.placeholder = value ?? "";
    else if (name === "label") this.#area.setAttribute("aria-label", value ?? "Shared text");
    // Before the element is in the page, there is no note to change.
    else if (this.#hasBegun && former !== value) void this.#open();
  }

  async #open() {
    this.#close();
    const round = (this.#round += 1);
    const src = this.getAttribute("src");
    if (!src) return;
    this.#status.textContent = words.opening;
    /** @type {(() => void) | undefined} */
    let forget;
    try {
      const { gateway, id } = partsOf(new URL(src, this.ownerDocument.baseURI).href);
      const name = this.getAttribute("name") ?? undefined;
      const key = JSON.stringify([gateway, name]);
      const shared = this.#token ? undefined : connections.get(key);
      const entry = shared ?? { count: 0, parley: connect(gateway, { name, token: this.#token }) };
      if (!this.#token) connections.set(key, entry);
      entry.count += 1;
      forget = () => {
        if (connections.get(key) === entry) connections.delete(key);
      };
      const release = () => {
        entry.count -= 1;
        if (entry.count > 0) return;
        if (connections.get(key) === entry) connections.delete(key);
        void entry.parley.then((parley) => parley.close(), () => {});
      };
      // An element that is removed from the page before the connection is ready releases it.
      this.#leave = release;
      const parley = await entry.parley;
      if (round !== this.#round) return;
      this.#attempts = 0;
      this.#show(parley, id, release);
    } catch (error) {
      forget?.();
      if (round !== this.#round) return;
      this.#status.textContent = words.failed;
      if (error instanceof ParleyError && error.code === "unreachable") {
        // A gateway that is down may return, so try again.
        this.#again = setTimeout(() => void this.#open(), Math.min(60_000, 2_000 * 2 ** this.#attempts));
        this.#attempts += 1;
      }
      this.dispatchEvent(new CustomEvent("parley-error", { detail: error, bubbles: true, composed: true }));
    }
  }

  /**
   * @param {Parley} parley
   * @param {string} id
   * @param {() => void} release
   */
  #show(parley, id, release) {
    const note = parley.note(id);
    const unbind = bind(note, this.#area);
    const tell = () => {
      this.#status.textContent = this.#wordsFor(note, parley);
      this.setAttribute("state", note.state);
    };
    const stops = [
      note.on("state", tell),
      parley.on("status", tell),
      note.on("people", () => this.#name(note)),
      parley.preventUnload(),
    ];
    this.note = note;
    tell();
    this.#name(note);
    this.#leave = () => {
      unbind();
      for (const stop of stops) stop();
      // Another element may show the same note.
      releaseNote(note);
      release();
    };
    shareNote(note);
  }

  /**
   * @param {import("./note.js").SharedNote} note
   * @param {Parley} parley
   */
  #wordsFor(note, parley) {
    const { state, reason } = parley.status;
    if (state === "stopped" && reason === "noAccess") return "You are not signed in, or may not come in.";
    if (note.state === "away" && !note.isKept) return "No connection. Leave this page open: your changes are here alone.";
    if (state === "stopped" && reason === "otherVersion") {
      return "The server has another version. What you wrote is kept here: reload the page later.";
    }
    if (state === "stopped" && reason === "refused") return "The server does not let this page in.";
    if (note.state === "opening" && state === "waiting") return "The server cannot be reached. It is tried again.";
    if (note.refusal) return `Your last changes were not taken: ${note.refusal}.`;
    // With a connection, the note is away only for a moment.
    const isOpen = note.state === "live" || (note.state === "away" && state === "online");
    if (isOpen && note.unsaved > 0) return "Saving…";
    if (note.state === "live" && note.access === "read") return "You may read this note.";
    return words[note.state];
  }

  /** @param {import("./note.js").SharedNote} note */
  #name(note) {
    const document = this.ownerDocument;
    this.#people.replaceChildren(
      ...note.people.map(({ name, color, isWriting }) => {
        const item = document.createElement("li");
        item.setAttribute("part", isWriting ? "person writing" : "person");
        item.style.setProperty("--person", /^#[0-9a-f]{3,8}$/i.test(color) ? color : "GrayText");
        item.textContent = name;
        return item;
      }),
    );
  }

  #close() {
    this.#round += 1;
    clearTimeout(this.#again);
    this.#leave?.();
    this.#leave = undefined;
    this.removeAttribute("state");
    this.note = undefined;
    this.#area.value = "";
    this.#area.readOnly = true;
    this.#people.replaceChildren();
  }
}

/**
 * The number of elements that show each note.
 *
 * @type {WeakMap<import("./note.js").SharedNote, number>}
 */
const shows = new WeakMap();

/** @param {import("./note.js").SharedNote} note */
function shareNote(note) {
  shows.set(note, (shows.get(note) ?? 0) + 1);
}

/** @param {import("./note.js").SharedNote} note */
function releaseNote(note) {
  const left = (shows.get(note) ?? 1) - 1;
  shows.set(note, left);
  if (left === 0) note.close();
}

if (globalThis.customElements && !customElements.get("parley-note")) {
  customElements.define("parley-note", ParleyNoteElement);
}
