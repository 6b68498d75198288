// Aligns the columns of Markdown tables in the text by padding their cells.

/** Characters that are two columns wide: East Asian scripts and most emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
/** Maximum width to which the cells of a column are padded. */
const widthMax = 80;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** @param {string} text @returns {number} The columns that it takes in a monospaced font. */
export function widthOf(text) {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/**
 * Returns the cells of a row. An escaped bar is part of its cell; a bar in code ends it, as for the parser.
 *
 * @param {string} line
 */
export function cellsOf(line) {
  const inner = line.trim().replace(/^\|/, "");
  const cells = [""];
  for (let at = 0; at < inner.length; at += 1) {
    const sign = inner[at] ?? "";
    if (sign === "\\" && at + 1 < inner.length) {
      cells[cells.length - 1] += sign + inner[at + 1];
      at += 1;
      continue;
    }
    if (sign === "|") cells.push("");
    else cells[cells.length - 1] += sign;
  }
  if (cells.length > 1 && cells[cells.length - 1]?.trim() === "") cells.pop();
  return cells.map((cell) => cell.trim());
}

/**
 * Returns a table with aligned columns.
 *
 * @param {string} text The lines of a table; the second one is the delimiter row.
 * @returns {string}
 */
export function alignedTable(text) {
  const lines = text.split("\n");
  const before = /^\s*/.exec(lines[0] ?? "")?.[0] ?? "";
  const rows = lines.map(cellsOf);
  const rule = rows[1] ?? [];
  const count = Math.max(...rows.map((row) => row.length));
  const sides = Array.from({ length: count }, (_, column) => {
    const cell = rule[column] ?? "";
    return cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : cell.startsWith(":") ? "left" : "";
  });
  const widths = sides.map((_, column) =>
    Math.min(widthMax, Math.max(3, ...rows.filter((_row, index) => index !== 1).map((row) => widthOf(row[column] ?? "")))),
  );
  const padded = rows.map((row, index) => {
    const cells = widths.map((width, column) => {
      const side = sides[column];
      if (index === 1) {
        const dashes = "-".repeat(width - (side === "center" ? 2 : side ? 1 : 0));
        return `${side === "left" || side === "center" ? ":" : ""}${dashes}${side === "right" || side === "center" ? ":" : ""}`;
      }
      const cell = row[column] ?? "";
      const room = Math.max(0, width - widthOf(cell));
      const left = side === "right" ? room : side === "center" ? Math.floor(room / 2) : 0;
      return " ".repeat(left) + cell + " ".repeat(room - left);
    });
    return `${before}| ${cells.join(" | ")} |`;
  });
  return padded.join("\n");
}
