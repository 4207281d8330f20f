// The list of the live page as a file.

import assert from "node:assert/strict";
import { test } from "node:test";

import { csvOf } from "../../assets/live/csv.js";

test("no cell of a file is a formula, numbers are numbers, and quotes hold what CSV would split", () => {
  for (const text of ["=1+1", "+1", "-1", "@a", " =1", "＝1", "'=1"]) assert.equal(csvOf([[text]]), `'${text}\r\n`);
  assert.equal(csvOf([["\t=1"]]), "' =1\r\n"); // no tab is left in a cell
  assert.equal(csvOf([["a,b", 'say "a"', "two\nlines", "a-b", -1, 0.123456, null]]), '"a,b","say ""a""",two lines,a-b,-1,0.1235,\r\n');
});
