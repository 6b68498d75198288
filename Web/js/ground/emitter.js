// Typed events without the DOM, so the same modules run in Node's tests.

/**
 * @template {Record<string, any>} Events The names of the events, with the type of each one's value.
 */
export class Emitter {
  /** @type {Map<keyof Events, Set<(detail: any) => void>>} */
  #listeners = new Map();

  /**
   * Calls `listener` for each event with this name, until the returned function is called.
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
   * Calls the listeners of an event. If one throws, the others are still called, and the error is rethrown afterwards.
   *
   * @template {keyof Events} Name
   * @param {Name} name
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
