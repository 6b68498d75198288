// The token with which this tab connects: the user's own, that of a shared link, or none.
//
// Tokens arrive in the fragment of the address, which is sent to no server and is in no log:
//
//   #token=…   the user's own token. It is removed from the address at once.
//   #share=…   a shared link's token. It stays in the address, which is the link.
//   #s=…       the key of a short link, for which the server issues the token (shortlink.js). It stays, too.
//   #invite=…  an invitation, whose bearer may become a user (passwords.js). It is removed from the address at once.
//   #reset=…   a link for a new password, likewise.
//
// Tokens are also issued for a password or by an identity provider (provider.js), both with a refresh token (login.js).
//
// All are stored in `sessionStorage`: they survive a reload, and another person at this browser does not find them.
// Tabs of this page pass the user's own token to each other on request, and notify each other when the user signs out.

import { Emitter } from "../ground/emitter.js";

/**
 * @typedef {{token: string, refreshToken?: string, isKept?: boolean, name?: string}} OwnToken `isKept`: the browser has
 * the refresh token in a cookie. `name`: if it was sent with the token.
 * @typedef {OwnToken & {isLink: boolean, key?: string}} Pass `key`: that of a short link.
 * @typedef {{sub?: string, name?: string, exp?: number}} Claims
 */

const passKey = "parley.access";
/** The storage key by which a tab remembers, across a reload, that its user has signed out. */
const outKey = "parley.signed-out";
const channelName = "parley.access";

/** The field of the fragment for a new note that the server has not created yet; its value is the note's key. */
export const newPlace = "new";
/** The field of the fragment for the heading to show. */
export const headingPlace = "heading";
/** The field of the fragment for the comment to show. */
export const commentPlace = "comment";

/**
 * Returns the fields of an address's fragment.
 *
 * @param {string} hash
 * @returns {{token?: string, share?: string, key?: string, invite?: string, reset?: string, isHistory: boolean, isNew: boolean,
 *   newKey?: string, heading?: string, comment?: string, isSignedIn: boolean, signInProblem?: string}}
 */
export function fragmentOf(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    token: fields.get("token") || undefined,
    share: fields.get("share") || undefined,
    key: fields.get("s") || undefined,
    invite: fields.get("invite") || undefined,
    reset: fields.get("reset") || undefined,
    isHistory: fields.has("history"),
    isNew: fields.has(newPlace),
    newKey: fields.get(newPlace) || undefined,
    heading: fields.get(headingPlace) || undefined,
    comment: fields.get(commentPlace) || undefined,
    isSignedIn: fields.has("signed-in"),
    signInProblem: fields.get("sign-in-problem") ?? undefined,
  };
}

/**
 * Returns all claims of a token without verifying them.
 *
 * @param {string} token
 * @returns {Record<string, unknown> | undefined} Undefined if the token is malformed.
 */
function payloadOf(token) {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const bytes = Uint8Array.from(
      atob((parts[1] ?? "").replace(/-/g, "+").replace(/_/g, "/")),
      (unit) => unit.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return claims === null || typeof claims !== "object" ? undefined : claims;
  } catch {
    return undefined;
  }
}

/**
 * Returns a token's claims about its bearer and its expiry. They are for display only: the server alone can verify
 * them.
 *
 * @param {string} token
 * @returns {Claims | undefined} Undefined if the token is malformed.
 */
export function claimsOf(token) {
  const claims = payloadOf(token);
  if (!claims) return undefined;
  const { sub, name, exp } = claims;
  return {
    sub: typeof sub === "string" ? sub : undefined,
    name: typeof name === "string" ? name : undefined,
    exp: typeof exp === "number" && Number.isFinite(exp) ? exp : undefined,
  };
}

/**
 * Returns the token in pasted text, which may contain a label before the token and line breaks within it.
 *
 * @param {string} text
 */
export function tokenIn(text) {
  const token = text.trim().replace(/^(authorization:\s*)?bearer\s+/i, "").replace(/\s+/g, "");
  const link = /[#&?](?:token)=([^&]+)/.exec(token);
  return link?.[1] ?? token;
}

/**
 * changed: the token or link of this tab has changed. offered: another tab has sent a newer token of the same user.
 * signedOut: this user has signed out in another tab.
 *
 * @extends {Emitter<{changed: void, offered: OwnToken, signedOut: void}>}
 */
export class Access extends Emitter {
  /** @type {Pass | undefined} */
  pass;

  #storage;
  /** @type {BroadcastChannel | undefined} */
  #channel;
  /** Whether the page is about to be reloaded. Until then it shows the former user's data. */
  #hasLeft = false;
  /** Whether the user has signed out since the last sign-in. Another tab's token then counts only after a sign-in. */
  #isOut;
  /** @type {string | undefined} The last token that another tab has sent. */
  #offered;

  /**
   * @param {object} options
   * @param {{hash: string}} options.location
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} options.storage
   * @param {BroadcastChannel} [options.channel] The channel to the other tabs.
   * @param {{key: string, token: string}} [options.link] The short link that was opened.
   */
  constructor({ location, storage, channel, link }) {
    super();
    this.#storage = storage;
    this.#channel = channel;
    this.pass = this.#stored();
    this.#isOut = this.#read(outKey) !== undefined;
    const { token, share } = fragmentOf(location.hash);
    if (token) this.take({ token });
    else if (share) this.#become({ token: share, isLink: true });
    else if (link) this.#become({ ...link, isLink: true });
    channel?.addEventListener("message", ({ data }) => this.#heard(data));
  }

  get token() {
    return this.pass?.token;
  }

  /** Whether the user has signed out in this browser, and no user has signed in since. */
  get isOut() {
    return this.#isOut;
  }

  get isLink() {
    return this.pass?.isLink ?? false;
  }

  /** Whether the pass is a published note, or a link that grants reading but neither writing nor commenting. */
  get isReader() {
    if (this.pass?.key?.[0] === "/") return true;
    /** @type {{documents?: {may?: string[]}[]}} */
    const { documents } = (this.pass?.isLink && payloadOf(this.pass.token)?.parley) || {};
    if (!Array.isArray(documents) || documents.length === 0) return false;
    const more = ["write", "comment", "manage"];
    return documents.every(({ may }) => Array.isArray(may) && may.includes("read") && !more.some((verb) => may.includes(verb)));
  }

  get claims() {
    return this.pass ? claimsOf(this.pass.token) : undefined;
  }

  /**
   * Whether the token has expired, according to its claim.
   *
   * @param {number} [now] Milliseconds.
   */
  hasEnded(now = Date.now()) {
    const end = this.claims?.exp;
    return end !== undefined && end * 1000 <= now;
  }

  /** Whether the user has a password on this server: the audience of a token shows how it was issued. */
  get hasPassword() {
    const { refreshToken, token, isKept } = this.pass ?? {};
    if (isKept) return token !== undefined && payloadOf(token)?.aud === "parley:user";
    return refreshToken !== undefined && payloadOf(refreshToken)?.aud === "parley:refresh";
  }

  /** The fragment of a note's address with which this tab can open the note again. */
  get fragment() {
    // The path of a published note suffices.
    if (this.pass?.key) return this.pass.key[0] === "/" ? "" : `s=${this.pass.key}`;
    return this.isLink ? `share=${this.token}` : "";
  }

  /** @param {OwnToken} own */
  take({ token, refreshToken, isKept, name }) {
    if (this.#hasLeft) return;
    const isSignIn = !this.pass && token !== this.#offered;
    this.#become({ token, isLink: false, refreshToken, isKept, name });
    this.#isOut = false;
    this.#store(outKey, undefined);
    this.#channel?.postMessage({ token, refreshToken, isKept, name, isSignIn });
  }

  /** @param {{key: string, token: string}} link The link of this tab, which could not be opened before. */
  follow(link) {
    this.#become({ ...link, isLink: true });
  }

  /** Requests a token from the other tabs, when the server requires one and this tab has none. */
  ask() {
    if (!this.#isOut) this.#channel?.postMessage({ isWanted: true });
  }

  /**
   * Drops the token, or the link, at the next load of the page. With a token of their own, the user signs out in all
   * tabs.
   *
   * @param {object} options
   * @param {OwnToken} [options.next] Another user's token, with which the page continues.
   * @param {boolean} [options.isHere] Whether only this tab is signed out.
   */
  leave({ next, isHere = false } = {}) {
    this.#hasLeft = true;
    this.#store(passKey, next && JSON.stringify({ ...next, isLink: false }));
    if (!this.pass || this.isLink || next) return;
    this.#store(outKey, "true");
    if (!isHere) this.#channel?.postMessage({ signedOut: this.claims?.sub ?? "" });
  }

  /** @param {Pass} pass */
  #become(pass) {
    if (pass.token === this.pass?.token) return;
    this.pass = pass;
    this.#store(passKey, JSON.stringify(pass));
    this.emit("changed", undefined);
  }

  /** @param {string} key @param {string | undefined} value */
  #store(key, value) {
    try {
      if (value === undefined) this.#storage.removeItem(key);
      else this.#storage.setItem(key, value);
    } catch {
      // The storage is full: it lasts as long as the page.
    }
  }

  /** @param {string} key */
  #read(key) {
    try {
      return this.#storage.getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** @returns {Pass | undefined} */
  #stored() {
    try {
      const { token, isLink, key, refreshToken, isKept, name } = JSON.parse(this.#read(passKey) ?? "");
      return typeof token === "string" ? { token, isLink: isLink === true, key, refreshToken, isKept, name } : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {any} data A message from another tab of this page. */
  #heard(data) {
    if (this.#hasLeft) return;
    if (typeof data?.signedOut === "string") {
      if (this.pass && !this.isLink && (this.claims?.sub ?? "") === data.signedOut) this.emit("signedOut", undefined);
    } else if (data?.isWanted && this.pass && !this.isLink && !this.hasEnded()) {
      const { token, refreshToken, isKept, name } = this.pass;
      this.#channel?.postMessage({ token, refreshToken, isKept, name });
    } else if (typeof data?.token === "string" && data.token !== this.token && !this.isLink) {
      const own = this.claims;
      if (this.#isOut && !data.isSignIn) return;
      if (own && own.sub !== claimsOf(data.token)?.sub) return;
      // Take only a token that expires later.
      if (own && (own.exp ?? Infinity) >= (claimsOf(data.token)?.exp ?? Infinity)) return;
      const { token, refreshToken, isKept, name } = data;
      this.#offered = token;
      this.emit("offered", { token, refreshToken, isKept, name });
    }
  }
}

/**
 * Returns the token that a tab with this storage had before, whatever its address.
 *
 * @param {Pick<Storage, "getItem">} storage
 * @returns {{token: string, key?: string} | undefined}
 */
export function formerPass(storage) {
  try {
    const { token, key } = JSON.parse(storage.getItem(passKey) ?? "");
    return typeof token === "string" ? { token, key } : undefined;
  } catch {
    return undefined;
  }
}

/** @returns {BroadcastChannel | undefined} */
export const channelBetweenTabs = () =>
  typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(channelName);
