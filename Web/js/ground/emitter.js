// Typed events without the DOM, so the same modules run in Node's tests.

/**
 * @template {Record<string, any>} Events Names of the events, and what each carries.
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(detail: any) => void>>} */
  #listeners = new Map();

  /**
   * Calls `listener` at each event of that name, until the returned function is called.
   *
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(detail: Events[Name]) => void} listener
   * @returns {() => void} Stops listening.
   */
  on(name, listener) {
    let listeners = this.#listeners.get(name);
    if (!listeners) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return () => void listeners?.delete(listener);
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * A listener that throws stops neither the other listeners nor the caller: its error is thrown afterwards.
   *
   * @param {Events[Name]} detail
   */
  emit(name, detail) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(detail);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
