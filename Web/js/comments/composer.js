// A field for a text that is sent to the server. The text stays in the field until the server has confirmed it, also if
// the connection is lost or the server rejects the text.

import { t } from "../shell/language.js";
import { isOfComposition } from "../shell/shortcuts.js";

const encoder = new TextEncoder();

/**
 * @param {object} options
 * @param {string} options.label The field's name for screen readers; shown in it while it is empty.
 * @param {string} options.send On the button.
 * @param {string} [options.text] The text at the beginning.
 * @param {string} [options.original] A text that is also stored elsewhere, and can be discarded; none for a new text.
 * @param {() => number} options.bytesMax
 * @param {(text: string) => Promise<string | undefined>} options.submit Sends the text; a problem in words, or undefined
 *   once it is there. `failed` puts its errors into words.
 * @param {(error: unknown) => {problem: string, isOpen: boolean}} options.failed An error in words; and whether it is
 *   unknown if the text has arrived, so that the same text has to be sent again before it may be changed.
 * @param {() => void} [options.cancel]
 * @param {() => void} [options.changed] The person has changed the text.
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
      // With another text in it, the field is hidden with the panel, and keeps the text.
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
    /** Called when the server can be reached again. */
    retry: () => isOpen && void go(),
  };
}
