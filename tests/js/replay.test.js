import assert from "node:assert/strict";
import { test } from "node:test";

import { unfold } from "../../assets/browser/stage/replay.js";

test("a replayed round is unfolded into chips, from the output's tokens and the other guesses", () => {
  const rounds = unfold(
    [
      [2, 1, "correction", [" x"], 1],
      [1, 0, "bonus", [], 0],
    ],
    [" a", " b", " c", " d", " e"],
  );
  assert.deepEqual(
    rounds.map(({ start }) => start),
    [0, 3],
  );
  assert.deepEqual(rounds[0].chips, [
    { text: " a", status: "accepted" },
    { text: " b", status: "accepted" },
    { text: " x", status: "rejected" },
    { text: null, status: "discarded" },
    { text: " c", status: "correction" },
  ]);
  assert.deepEqual(rounds[1].chips, [
    { text: " d", status: "accepted" },
    { text: " e", status: "bonus" },
  ]);
});

test("the end of the text inside a draft leaves the guesses after it discarded", () => {
  const [round] = unfold([[1, 0, "none", [" x", " y"], 0]], [" a"]);
  assert.deepEqual(
    round.chips.map(({ status }) => status),
    ["accepted", "discarded", "discarded"],
  );
});
