// A field for words that go to the server, which are in it until they are there: whatever the line does, and whatever the
// server says.

import { t } from "../shell/language.js";
import { isOfComposition } from "../shell/shortcuts.js";

const encoder = new TextEncoder();

/**
 * @param {object} options
 * @param {string} options.label What a screen reader calls the field; shown in it while it is empty.
 * @param {string} options.send On the button.
 * @param {string} [options.text] What it begins with.
 * @param {string} [options.original] Words that are somewhere else, too, so that they can be given up; none if it is new.
 * @param {() => number} options.bytesMax
 * @param {(text: string) => Promise<string | undefined>} options.submit Sends the text; a problem in words, or undefined
 *   once it is there. `failed` puts its errors into words.
 * @param {(error: unknown) => {problem: string, isOpen: boolean}} options.failed An error in words; and whether it is
 *   unknown if the text has arrived, so that the same text has to be sent again before it may be changed.
 * @param {() => void} [options.cancel]
 * @param {() => void} [options.changed] The words in it are others by a person's hand.
 */
export function composer({ label, send, original = "", text = original, bytesMax, submit, failed, cancel, changed }) {
  const form = document.createElement("form");
  form.className = "composer";
  const area = document.createElement("textarea");
  area.setAttribute("aria-label", label);
  area.placeholder = label;
  area.dir = "auto";
  area.rows = 2;
  area.value = text;
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  const buttons = document.createElement("p");
  buttons.className = "composer-buttons";
  const button = document.createElement("button");
  button.type = "submit";
  button.classList.add("button", "small", "primary");
  button.textContent = send;
  buttons.append(button);
  if (cancel) {
    const other = document.createElement("button");
    other.type = "button";
    other.className = "button small";
    other.textContent = t("cancel");
    other.addEventListener("click", cancel);
    buttons.append(other);
  }
  form.append(area, problem, buttons);
  let isBusy = false;
  /** Whether it is unknown if the text has arrived. */
  let isOpen = false;

  async function go() {
    if (isBusy) return;
    const words = area.value;
    if (!words.trim()) return area.focus();
    const count = encoder.encode(words).length;
    if (count > bytesMax()) {
      problem.textContent = t("comments.tooLong", { count, max: bytesMax() });
      return;
    }
    isBusy = true;
    area.readOnly = true;
    button.setAttribute("aria-disabled", "true");
    problem.textContent = "";
    try {
      const refusal = await submit(words);
      isOpen = false;
      problem.textContent = refusal ?? "";
      if (refusal === undefined) area.value = "";
    } catch (error) {
      ({ problem: problem.textContent, isOpen } = failed(error));
    } finally {
      isBusy = false;
      area.readOnly = isOpen;
      button.removeAttribute("aria-disabled");
    }
  }

  if (changed) area.addEventListener("input", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void go();
  });
  form.addEventListener("keydown", (event) => {
    if (isOfComposition(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void go();
    } else if (event.key === "Escape" && cancel && !isBusy && [original.trim(), ""].includes(area.value.trim())) {
      // With other words in it, it is put out of sight with the panel, and keeps them.
      event.stopPropagation();
      cancel();
    }
  });

  return {
    element: form,
    focus: () => area.focus(),
    get text() {
      return area.value;
    },
    get isEmpty() {
      return area.value.trim() === "" && !isBusy;
    },
    /** The server is there again. */
    retry: () => isOpen && void go(),
  };
}
