// The whole note on paper: the editor has only those lines in the page that can be seen.

import { byId } from "../shell/dialogs.js";
import { page } from "../page.js";
import { early } from "../session.js";

/** Puts the text where the print style shows it, as long as the browser prints. */
export function setUpPrinting() {
  const printed = byId("printed");
  addEventListener("beforeprint", () => {
    if (page.past || (!page.current && !page.newNote)) return;
    // As it is read, if it is: the copy has no scrolling.
    const rendered = byId("rendered");
    if (!rendered.hidden) printed.replaceChildren(...[...rendered.children].map((block) => block.cloneNode(true)));
    else printed.textContent = page.current?.text ?? early.text(page.place ?? "");
    printed.className = rendered.hidden ? "printed" : "printed rendered";
    printed.dir = "auto";
    printed.hidden = false;
  });
  addEventListener("afterprint", () => {
    printed.replaceChildren();
    printed.hidden = true;
  });
}
