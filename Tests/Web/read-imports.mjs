// Prints the notes and problems that the page's import finds in files: folder, title and text, as JSON.
//
//   node Tests/Web/read-imports.mjs FOLDER FILE...

import { readFileSync } from "node:fs";
import path from "node:path";
import { ImportReader } from "../../Web/js/exchange/importreader.js";

const compiled = new WebAssembly.Module(readFileSync(new URL("../../Web/generated/import.wasm", import.meta.url)));
const [folder = ".", ...names] = process.argv.slice(2);
const given = names.map((name) => ({ path: name, file: new Blob([readFileSync(path.join(folder, name))]) }));
const rows = [];
for await (const { path: place, draft, problem } of new ImportReader(compiled, { scalarsMax: 4_000_000 }).notesIn(given)) {
  rows.push(draft ? [draft.folder ?? "", draft.title || "Untitled", draft.text] : [place, problem?.key]);
}
console.log(JSON.stringify(rows));
