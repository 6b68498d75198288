// Detects that HTTP reaches the server although WebSockets do not: because of a proxy that drops `Upgrade`, a firewall,
// or a certificate that the browser accepts for pages only.

import { Emitter } from "../ground/emitter.js";
import { at } from "../ground/base.js";

/**
 * Returns a text with the likely reasons. The page cannot tell them apart, but without TLS it is no certificate.
 *
 * @param {string} protocol Of the page's address.
 */
export const blockedReason = (protocol) => protocol === "https:" ? "notice.blockedSecure" : "notice.blocked";

/**
 * changed: `isBlocked` has changed.
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
   * Takes a new state of the connection. A server that starts between two attempts answers only after the first of them,
   * so one failed attempt proves nothing.
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
