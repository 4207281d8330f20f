/** A table as CSV that a spreadsheet reads as text and numbers: no cell is a formula. As specviz/core/csv_cells.py. */

const FORMULA = /^'*(?:[\t\r]|\s*[=+\-@＝＋－＠])/u; // with the marks of text that is marked already

/** @typedef {string | number | null} Cell */

/** @param {string} text */
function safe(text) {
  const line = text.replace(/\p{C}/gu, " ");
  return FORMULA.test(line) ? `'${line}` : line;
}

/** @param {Cell} cell */
function written(cell) {
  if (typeof cell === "number") return String(Math.round(cell * 10_000) / 10_000);
  const text = safe(cell ?? "");
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {Cell[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(written).join(",")}\r\n`).join("");
}
