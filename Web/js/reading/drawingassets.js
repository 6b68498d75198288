// Files that draw formulas and diagrams. The built page has them under names that carry a hash of their content, and
// another module in the place of this one (Scripts/build-page.py).

import { at } from "../ground/base.js";

export const formulasAddress = at("/assets/worker/formulas.js");
export const diagramsAddress = at("/assets/worker/diagrams.js");
export const mermaidAddress = at("/assets/vendor/mermaid/mermaid.js");
