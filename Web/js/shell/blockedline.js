// Whether HTTP reaches the server although WebSockets do not: a proxy that drops `Upgrade`, a firewall, or a certificate
// that the browser accepts for pages only.

import { Emitter } from "../emitter.js";
import { at } from "../base.js";

/**
 * The text of the likely reasons. The page cannot tell them apart, but without TLS no certificate is one.
 *
 * @param {string} protocol Of the page's address.
 */
export const blockedReason = (protocol) => protocol === "https:" ? "notice.blockedSecure" : "notice.blocked";

/**
 * changed: `isBlocked` has.
 *
 * @extends {Emitter<{changed: void}>}
 */
export class BlockedLine extends Emitter {
  /** Whether an attempt to connect failed after the server had answered over HTTP. */
  isBlocked = false;
  #isServerThere = false;
  /** @type {string | undefined} The state that was taken last. */
  #state;
  #ask;

  /** @param {(address: string, options: RequestInit) => Promise<Response>} [ask] What a test replaces. */
  constructor(ask = (address, options) => fetch(address, options)) {
    super();
    this.#ask = ask;
  }

  /**
   * Takes a new state of the line. A server that starts between two attempts answers after the first of them only, so
   * one failed attempt says nothing.
   *
   * @param {string} state
   */
  async take(state) {
    this.#state = state;
    if (state === "online") {
      this.#isServerThere = false;
      this.#set(false);
    }
    if (state !== "waiting") return;
    const wasThere = this.#isServerThere;
    const answer = await this.#ask(at("/health"), { cache: "no-store" }).catch(() => undefined);
    // Connected meanwhile.
    if (this.#state === "online") return;
    this.#isServerThere = answer?.ok === true;
    this.#set(wasThere && this.#isServerThere);
  }

  /** @param {boolean} isBlocked */
  #set(isBlocked) {
    if (isBlocked === this.isBlocked) return;
    this.isBlocked = isBlocked;
    this.emit("changed", undefined);
  }
}
