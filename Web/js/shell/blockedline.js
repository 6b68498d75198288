// Detects that HTTP reaches the server but WebSockets do not: because of a proxy that drops `Upgrade`, a firewall, or a
// certificate that the browser accepts for pages only.

import { Emitter } from "../ground/emitter.js";
import { at } from "../ground/base.js";

/**
 * Returns the key of a text with the likely reasons. The page cannot distinguish them; without TLS it is no
 * certificate.
 *
 * @param {string} protocol The protocol of the page's address.
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
  /** @type {string | undefined} The latest state. */
  #state;
  #ask;

  /** @param {(address: string, options: RequestInit) => Promise<Response>} [ask] Replaced by tests. */
  constructor(ask = (address, options) => fetch(address, options)) {
    super();
    this.#ask = ask;
  }

  /**
   * Handles a new state of the connection. One failed attempt proves nothing: the server may have started after it, and
   * before the request over HTTP.
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
    // Connected since.
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
