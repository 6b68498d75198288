// The main landmark. On a phone, list and note alternate: the list is the main landmark while it is shown.

import { byId } from "../ground/dialogs.js";

const narrow = matchMedia("(max-width: 720px)");

/** Makes the list or the note the main landmark, depending on which is shown. */
export function drawLandmarks() {
  const isList = narrow.matches && byId("app").dataset.view === "home";
  byId("sidebar").setAttribute("role", isList ? "main" : "complementary");
  byId("list-heading").hidden = !isList;
}

narrow.addEventListener("change", drawLandmarks);
