// What holds for every input: of the equation, of the lossless rule, of trees in rows, of slides.

import assert from "node:assert/strict";
import { test } from "node:test";

import { prob } from "../../assets/browser/shared/numbers.js";
import { MOST, lengthOf, cellsOf, escaped, inLines, lastLines, wrapped, runFilm, runSlide } from "../../assets/browser/stage/slide.js";
import { equationOf } from "../../assets/browser/stage/result.js";
import { leftMargin } from "../../assets/browser/stage/timeline.js";
import { statusWords } from "../../assets/browser/stage/words.js";
import { betaOf, halfwayTo, movedTo, partsOf } from "../../assets/browser/stage/lossless.js";
import { MOST_ROWS, fold, treeRows } from "../../assets/browser/trace/tree_rows.js";
import { HOSTILE, drafted, emitted, roundOf, shownRun, treeRound } from "./made_rounds.js";
import { KEY, textsOf } from "./slides.js";

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-9, `${one} is not ${other}`);

// ---- the equation

/** A run of so many rounds of 2 ms, of which the target alone takes `alone` ms a token. */
function timed(tokens, rounds, alone) {
  const accepted = tokens - rounds;
  const speedup = (alone * tokens) / (2 * rounds);
  const after = { emitted: tokens, accepted, drafted: 4 * rounds, per_call: tokens / rounds, acceptance: accepted / (4 * rounds), speedup };
  const each = Array.from({ length: rounds }, (_, i) => ({ after, ms: [2 * i, 2 * i + 0.5, 2 * i + 1.75, 2 * i + 2] }));
  const result = { says: "", reason: "", trusted: true, speedup: Number(speedup.toFixed(2)), interval: null };
  return { rounds: each, running: false, timed: true, result, replay: { why_not: null, times: "", lengths: {} } };
}

test("the quotient of the two sides as they are shown is the speedup as it is said, the steps are the timed ones, and their parts add up", () => {
  let checked = 0;
  for (let rounds = 1; rounds <= 40; rounds += 1) {
    for (let tokens = rounds; tokens <= 5 * rounds; tokens += 3) {
      for (const alone of [0.37, 0.9, 1, 1.313, 4]) {
        const data = timed(tokens, rounds, alone);
        const { pieces, tips } = equationOf(data, null);
        const line = pieces.map(({ words }) => words).join("");
        const [per_call, steps, speedup] = /^([\d.]+) tokens per target call ÷ ([\d.]+) steps = ([\d.]+)×$/.exec(line).slice(1).map(Number);
        assert.equal(speedup, data.result.speedup);
        assert.equal((per_call / steps).toFixed(2), speedup.toFixed(2), line);
        assert.ok(Math.abs(per_call - tokens / rounds) <= 0.005 + 1e-9, line);
        assert.ok(Math.abs(steps - 2 / alone) <= 0.005 + 0.005 * steps / speedup, line);
        const [guesses, check, rest] = /Here ([\d.]+) for the guesses, ([\d.]+) for the check and ([\d.]+)/.exec(tips.steps).slice(1).map(Number);
        assert.ok(Math.abs(guesses + check + rest - steps) < 0.0051, tips.steps);
        checked += 1;
      }
    }
  }
  assert.ok(checked > 1000);
});

test("a speedup that was said in the middle of two roundings is the one of the equation", () => {
  const data = timed(9, 4, 1);
  data.result.speedup = 1.12; // 1.125, which Python says as 1.12
  assert.equal(equationOf(data, null).pieces.at(-1).words, "1.12×");
});

test("no probability below 1 is rounded to 1", () => {
  for (let value = 0.99; value < 1; value += 0.0001) assert.match(prob(value), /^(99(\.\d)?|>99\.9) %$/);
});

// ---- the lossless rule

const RULE = { round: 10, tokens: [[" play", 0.2, 0.3], [" show", 0.3, 0.1]], others: [0.5, 0.6, 0.4] };
const sumOfQ = ({ tokens, others }) => tokens.reduce((sum, [, , q]) => sum + q, others[1]);

test("what is accepted and what the replacement adds are p, whatever q is", () => {
  for (const q of [0, 0.1, 0.2, 0.9]) {
    const { both, left, whole } = partsOf(0.2, q);
    near(both + left, whole);
    near(both, Math.min(0.2, q));
  }
});

test("α is the sum of the smaller ones, and one minus the distance; halfway to p exactly half as much is lost", () => {
  near(betaOf(RULE), 0.2 + 0.1 + 0.4);
  near(betaOf(RULE), 1 - (Math.abs(0.2 - 0.3) + Math.abs(0.3 - 0.1) + (0.5 - 0.4) + (0.6 - 0.4)) / 2);
  near(1 - betaOf(halfwayTo(RULE)), (1 - betaOf(RULE)) / 2);
  near(sumOfQ(halfwayTo(RULE)), sumOfQ(RULE));
});

test("a moved q takes from the other tokens of the list, and all of q stays one", () => {
  for (const wanted of [-1, 0, 0.15, 0.4, 2]) {
    const moved = movedTo(RULE, 0, wanted);
    near(sumOfQ(moved), sumOfQ(RULE));
    near(moved.tokens[0][2], Math.min(Math.max(wanted, 0), 0.4));
    assert.deepEqual([moved.others, moved.tokens.map(([, p]) => p)], [RULE.others, [0.2, 0.3]]);
    assert.ok(betaOf(moved) <= 1);
  }
  near(betaOf(movedTo(RULE, 0, 0.2)), 0.2 + 0.2 + 0.4); // nearer to p: more is accepted
  near(movedTo(movedTo(RULE, 0, 0.4), 0, 0.1).tokens[1][2], 0.3); // also after the others had nothing left
});

// ---- trees in rows

/** Four guesses for the first place, and four after each of them. */
const WIDE = treeRound([...Array(4).fill("n-1"), ...Array.from({ length: 16 }, (_, i) => `n${i >> 2}`)].join(" "), "correction");
const withProbs = (round, qs) => ({ ...round, drafted: round.drafted.map((token, i) => ({ ...token, draft_prob: qs[i] })) });

test("each guess is in one row after the guess that it follows", () => {
  for (const round of [WIDE, treeRound("n-1 n-1 n0 n1 n1 n3 n3", "bonus")]) {
    const [rows, parents] = [treeRows(round), round.drafted.map(({ parent }) => parent)];
    assert.deepEqual(rows.flat().sort((a, b) => a - b), round.drafted.map((_, node) => node));
    rows.forEach((row, number) => {
      assert.deepEqual(row.slice(1).map((node) => parents[node]), row.slice(0, -1), "a row is a chain");
      assert.ok([-1, ...rows.slice(0, number).flat()].includes(parents[row[0]]), "what a row leaves stands above it");
    });
  }
});

test("of more rows the most probable stay, and none hangs in the air", () => {
  const qs = WIDE.drafted.map((_, node) => 0.9 / (1 + ((node * 7) % 20)));
  const round = withProbs(WIDE, qs);
  const rows = treeRows(round);
  const path = (node) => qs[node] * (node < 4 ? 1 : qs[(node - 4) >> 2]);
  const hidden = fold(round, rows);
  const stays = rows.filter((_, number) => !hidden.rows.includes(number));
  assert.equal(stays.length, MOST_ROWS - 1);
  assert.equal(hidden.best, Math.max(...hidden.rows.map((number) => path(rows[number][0]))));
  assert.ok(hidden.best <= Math.min(...stays.map(([first]) => path(first))));
  const seen = new Set([-1, ...stays.flat()]);
  assert.ok(stays.every(([first]) => seen.has(round.drafted[first].parent)));
});

test("where no probability is known, the first guesses for each place stay", () => {
  for (const round of [WIDE, withProbs(WIDE, Array(20).fill(1))]) {
    assert.deepEqual(fold(round, treeRows(round)), { rows: [6, 7, 9, 10, 11, 12, 13, 14, 15], best: null });
  }
});

// ---- slides: rendered.js has what stands on them

const slide = (rounds, step, more) => runSlide({ ...shownRun(rounds, more), ...KEY }, step);

test("text is text: markup, what XML cannot hold, right to left, line breaks, faces", () => {
  const texts = [HOSTILE, "\u0000\ud800\uffff", "مرحبا", "a\nb", "👩‍👩‍👧"];
  const round = { ...roundOf("", "bonus"), drafted: texts.map((text, i) => drafted(i, "a", text)), emitted: emitted("bonus", 9, HOSTILE) };
  const file = slide([round], 2, { badge: HOSTILE, measured: HOSTILE, idle: HOSTILE });
  assert.equal(file.includes("<script"), false);
  for (const text of ["&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;'", "⟨00⟩\ufffd\ufffd", "مرحبا", "a↵b", "👩‍👩‍👧"]) assert.ok(textsOf(file).includes(text), text);
  encodeURIComponent(file); // a browser reads it as an address: half a character would be an error
  assert.deepEqual([escaped("a\ud83d"), escaped("👧")], ["a\ufffd", "👧"]);
  const long = "discarded, as every longer block failed";
  const key = runSlide({ ...shownRun([{ ...round, drafted: [drafted(1, "a", long)] }]), ...KEY, key: [{ look: "discarded", text: long }] }, 2);
  assert.deepEqual(textsOf(key).filter((text) => text.startsWith("disc")), ["discarded,␣as␣every␣longer␣bloc…", long], "a token is cut, the key is not");
});

test("a deep tree and the end of a long text are inside the slide, which says that there is more", () => {
  const deep = slide([treeRound(Array.from({ length: 16 }, (_, i) => `a${i - 1}`).join(" "), "bonus")], 1);
  for (const [, x] of deep.matchAll(/<rect x="([\d.]+)"/g)) assert.ok(Number(x) < 1240);
  const long = slide(Array.from({ length: 80 }, () => roundOf("aaaa", "bonus")), 3 * 80 - 1);
  assert.ok(textsOf(long).includes("… and what was written before"));
  for (const [, y] of long.matchAll(/<rect x="[\d.]+" y="([\d.]+)"/g)) assert.ok(Number(y) >= 200 && Number(y) < 600, y);
});

test("a chip has the room of its characters; a line ends where the text has a line break or no more room", () => {
  assert.deepEqual(["ab", "漢字", "é", "👩‍👩‍👧", "م"].map(cellsOf), [2, 4, 1, 2, 1]);
  const how = { size: 20, top: 10, step: 40, left: 0, room: 200 };
  const place = (texts) => inLines(texts.map((text) => ({ look: "plain", text })), how);
  assert.deepEqual(place(["aaaa", "bbbb", "cccc", "dddd"]).map(({ y }) => y), [10, 10, 10, 50]);
  assert.deepEqual(place(["a↵", "↵", "b"]).map(({ y }) => y), [10, 10, 50]);
  assert.equal(place(["m".repeat(60)])[0].width, 200);
  assert.deepEqual(lastLines(place(["a↵", "b↵", "c"]), how, 2).map(({ chip, y }) => [chip.text, y]), [["b↵", 10], ["c", 50]]);
  assert.equal(wrapped(Array(30).fill("word").join(" "), 28, 2).length, 2);
});

test("a film is faster at a higher speed, and says what it leaves out of a very long run", () => {
  const film = (rounds, speed) => runFilm({ ...shownRun(Array.from({ length: rounds }, () => roundOf("ar"))), ...KEY }, speed);
  assert.equal(film(2, 1).left, "");
  assert.deepEqual(film(2, 4).frames.map(({ ms }) => 4 * ms), [750, 650, 1150, 750, 650, 12_000]); // but for its end
  const { frames, left } = film(300, 1);
  assert.ok(lengthOf(frames) <= MOST);
  assert.equal(left, "The film has the first 45 of 300 rounds.");
  assert.deepEqual([frames[0], frames.at(-1)].map(({ draw }) => textsOf(draw()).includes(left)), [false, true]);
});

test("a run's words for a status are the same function each time: else every round of it is drawn again", () => {
  for (const data of [{ rule: "block" }, { rule: "block", diagram: { words: "plain" } }, { rule: "tokens" }]) assert.equal(statusWords(data), statusWords(data));
});

test("the longest name of a lane has room beside it, and a short one leaves the lanes where they are", () => {
  assert.equal(leftMargin(["speculative", "target alone"], false), leftMargin(["a"], false));
  assert.equal(leftMargin(["draft +\ncheck", "target\nalone"], true), leftMargin(["a"], true));
  assert.ok(leftMargin(["razem", "sam model docelowy"], false) > 0.47 * "sam model docelowy".length + 0.4); // as wide as measured
  assert.ok(leftMargin(["razem", "sam\nmodel docelowy"], true) < leftMargin(["razem", "sam model docelowy"], true));
});
