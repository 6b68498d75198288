// On a phone, list and note take turns: the list is then what the page is mainly about.

import { byId } from "../ground/dialogs.js";

const narrow = matchMedia("(max-width: 720px)");

/** Makes the list or the note the main landmark, by what the page shows now. */
export function drawLandmarks() {
  const isList = narrow.matches && byId("app").dataset.view === "home";
  byId("sidebar").setAttribute("role", isList ? "main" : "complementary");
  byId("list-heading").hidden = !isList;
}

narrow.addEventListener("change", drawLandmarks);
