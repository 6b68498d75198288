// The list of threads beside the note. It reuses the view of each thread, with the text typed in it, while the thread
// is shown.

import { byId } from "../ground/dialogs.js";

/**
 * @typedef {import("./comments.js").Thread} Thread
 * @typedef {import("./threadview.js").ThreadView} ThreadView
 */

export class ThreadList {
  #list = byId("comments-list");
  #makeView;
  /** @type {Map<string, {thread: Thread, view: ThreadView}>} Shown threads, by their ids. */
  #shown = new Map();

  /** @param {(id: string) => ThreadView} makeView Creates the view of a thread. */
  constructor(makeView) {
    this.#makeView = makeView;
  }

  /** @param {Thread[]} threads In the order of display. */
  draw(threads) {
    const ids = new Set(threads.map(({ first }) => first.id));
    for (const id of this.#shown.keys()) if (!ids.has(id)) this.#shown.delete(id);
    this.#place(
      threads.map((thread) => {
        const { id } = thread.first;
        const view = this.#shown.get(id)?.view ?? this.#makeView(id);
        this.#shown.set(id, { thread, view });
        view.draw(thread);
        return view.element;
      }),
    );
  }

  /** @param {HTMLElement[]} elements */
  #place(elements) {
    const list = this.#list;
    const wanted = new Set(/** @type {Element[]} */ (elements));
    for (const element of [...list.children]) if (!wanted.has(element)) element.remove();
    // The thread with the focus is not moved: it would lose the focus and a composed word.
    const kept = elements.find((element) => element.contains(document.activeElement));
    elements.forEach((element, index) => {
      if (element === kept) while (list.children[index] !== kept) list.append(list.children[index] ?? "");
      else if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
    });
  }

  /** @param {Set<string>} marked The threads whose range is marked in the text. */
  drawPlaces(marked) {
    for (const { view, thread } of this.#shown.values()) {
      const { id, place, resolved } = thread.first;
      view.drawPlace(!place && (resolved !== undefined || !marked.has(id)));
    }
  }

  /** @param {string | undefined} chosen The highlighted thread. */
  drawChosen(chosen) {
    for (const [id, { view }] of this.#shown) view.drawChosen(id === chosen);
  }

  /** @param {string} id */
  focus(id) {
    const element = this.#shown.get(id)?.view.element;
    element?.focus();
    element?.scrollIntoView({ block: "nearest" });
  }

  /** Called when the connection is restored. */
  retry() {
    for (const { view } of this.#shown.values()) view.retry();
  }

  close() {
    this.#list.replaceChildren();
  }
}
