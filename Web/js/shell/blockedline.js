// Whether HTTP reaches the server although WebSockets do not: the usual sign of a proxy that drops `Upgrade`.

import { Emitter } from "../emitter.js";
import { at } from "../base.js";

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
