// The scripts that draw formulas and diagrams. In the built page, another module with hashed names replaces this one
// (Scripts/build-page.py).

import { at } from "../ground/base.js";

export const formulasAddress = at("/assets/worker/formulas.js");
export const diagramsAddress = at("/assets/worker/diagrams.js");
export const mermaidAddress = at("/assets/vendor/mermaid/mermaid.js");
