/** A table as CSV that a spreadsheet reads as text and numbers: no cell is a formula. As specviz/core/csv_cells.py. */

const FORMULA = /^'*(?:[\t\r]|\s*[=+\-@＝＋－＠])/u; // with the marks of text that is marked already

export type Cell = string | number | null;

function safe(text: string) {
  const line = text.replace(/\p{C}/gu, " ");
  return FORMULA.test(line) ? `'${line}` : line;
}

function written(cell: Cell) {
  if (typeof cell === "number") return String(Math.round(cell * 10_000) / 10_000);
  const text = safe(cell ?? "");
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(rows: Cell[][]) {
  return rows.map((row) => `${row.map(written).join(",")}\r\n`).join("");
}
