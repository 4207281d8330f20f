// The lesson about latency and throughput: the formulas, on the published figures, and what is said of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { STOPS, parameters, pass, roundOf, tokensOfRound } from "../../assets/browser/roofline/model.js";
import { scales } from "../../assets/browser/roofline/roof.js";
import { filled, inMs, outcomeOf, valueOf, wordOf } from "../../assets/browser/roofline/words.js";

/** @import { PublishedMachine, ModelShape } from "../../assets/browser/dist/payloads.js" */

/** @type {{ machines: PublishedMachine[], models: (ModelShape & { billions: number })[] }} */
const { machines, models } = JSON.parse(readFileSync(new URL("../../assets/measured/machines.json", import.meta.url), "utf8"));
const [dense, mixtral, qwen] = /** @type {[ModelShape, ModelShape, ModelShape]} */ (/** @type {unknown} */ (models));
const machine = /** @type {PublishedMachine} */ (machines.find(({ short }) => short === "MI300X"));
const DRAFT = { alpha: 0.7, length: 4, cost: 0.05 };
const JUDGED = { neutral: 1.05, helps: "Helps", even: "About even", hurts: "Hurts" };
const setting = (/** @type {number} */ batch, /** @type {number} */ context, shape = dense) => ({ machine, shape, batch, context });
const round = (/** @type {number} */ batch, /** @type {number} */ context, { name } = dense, draft = DRAFT) =>
  roundOf({ machine: "MI300X", model: name, batch, context, ...draft }, { machines, models });
/** @type {(one: number, other: number, share?: number) => void} */
const near = (one, other, share = 1e-9) => assert.ok(Math.abs(one - other) <= share * Math.abs(other), `${one} is not ${other}`);

test("the shapes have as many weights as their makers say", () => {
  assert.equal(models.length, 3);
  for (const shape of models) near(parameters(shape), shape.billions * 1e9, 0.005);
});

test("random routing touches so many different experts", () => {
  const touched = (/** @type {ModelShape} */ shape, /** @type {number} */ tokens) => pass(setting(1, 512, shape), tokens).touched;
  near(touched(mixtral, 1), 2);
  near(touched(mixtral, 5), 8 * (1 - 0.75 ** 5));
  assert.equal(touched(dense, 7), 1);
  near(touched(qwen, 10_000), 128);
  let sum = 0; // drawn: each of five tokens takes two different ones of eight
  const drawings = 20_000;
  for (let i = 0, seed = 1; i < drawings; i += 1) {
    const taken = new Set();
    for (let token = 0; token < 5; token += 1) {
      const left = [0, 1, 2, 3, 4, 5, 6, 7];
      for (let k = 0; k < 2; k += 1) {
        seed = (seed * 48271) % 2147483647;
        taken.add(left.splice(seed % left.length, 1)[0]);
      }
    }
    sum += taken.size;
  }
  near(sum / drawings, touched(mixtral, 5), 0.01);
});

test("a pass takes the longer time of its bytes and its arithmetic, for matrices and for attention", () => {
  const { weights, caches, seconds } = pass(setting(3, 1000), 2);
  near(caches.bytes, 3 * 2 * 32 * 8 * 128 * 1000 * 2);
  const scores = 3 * 2 * 4 * 32 * 32 * 128 * 1000;
  near(caches.intensity, scores / caches.bytes);
  const matrices = 32 * (2 * 4096 * 128 * (32 + 8) + 3 * 4096 * 14336) + 128256 * 4096;
  near(weights.bytes, 2 * matrices);
  near(weights.fetching, weights.bytes / 5.3e12);
  near(weights.computing, (2 * 3 * 2 * matrices) / 1307.4e12);
  near(seconds, Math.max(weights.fetching, weights.computing) + Math.max(caches.fetching, scores / 1307.4e12));
  near(round(3, 1000).memory, 2 * parameters(dense) + caches.bytes);
});

test("the matrices do as many operations a byte as there are tokens in the pass, attention as many as share a cache", () => {
  for (const batch of [1, 16, 256]) {
    const { weights, caches } = pass(setting(batch, 2048), 5);
    near(weights.intensity, 5 * batch);
    near(caches.intensity, (5 * 32) / 8);
  }
});

test("with experts a small batch fetches other weights for each text, so its matrices gain far fewer operations a byte", () => {
  near(pass(setting(8, 512), 1).weights.intensity, 8);
  for (const shape of [mixtral, qwen]) assert.ok(pass(setting(8, 512, shape), 1).weights.intensity < 2.5);
});

test("a check is a plain pass where the machine waits, and as many as it has tokens where it is busy", () => {
  near(round(1, 512).growth, 1);
  near(round(4096, 1).growth, 5, 0.01);
  for (const batch of STOPS.batch) assert.ok(round(batch, 512).growth >= 1);
});

test("what a batch changes: the gain of one text is lost in a large batch of short ones", () => {
  const gains = STOPS.batch.map((batch) => round(batch, 512).speedup);
  assert.ok(Number(gains[0]) > 2 && Number(gains.at(-1)) < 1);
  assert.ok(gains.every((gain, i) => i === 0 || gain <= Number(gains[i - 1]) + 1e-9)); // never up again
});

test("why a long context brings it back: the share of attention grows, and a check fetches it once", () => {
  const rounds = STOPS.context.map((context) => round(128, context));
  assert.ok(rounds.every(({ speedup }, i) => i === 0 || speedup > Number(rounds[i - 1]?.speedup)));
  const [short, , long] = rounds.map(({ plain }) => plain.caches.seconds / plain.seconds);
  assert.ok(Number(short) < 0.5 && Number(long) > 0.8);
});

test("why experts change it: one text loses, a medium batch gains, a large one less again", () => {
  const gain = (/** @type {number} */ batch, shape = mixtral) => round(batch, 512, shape).speedup;
  assert.ok(gain(1) < 1 && gain(32) > 2 && gain(512) < gain(32));
  assert.ok(gain(1, qwen) < 1 && gain(64, qwen) > 2);
  const everyone = { ...qwen, experts: 1, active: 1 };
  near(pass(setting(1, 512, everyone), 5).seconds, pass(setting(1, 512, everyone), 1).seconds); // dense: nothing more to fetch
});

test("a round writes 1 + α + … + α^γ tokens, and breaks even where it writes what it costs", () => {
  near(tokensOfRound(0.7, 4), 1 + 0.7 + 0.49 + 0.343 + 0.2401);
  assert.equal(tokensOfRound(1, 4), 5);
  assert.equal(tokensOfRound(0, 4), 1);
  const { needed, steps } = round(128, 512);
  assert.ok(needed !== null && needed > 0 && needed < 1);
  near(tokensOfRound(needed, 4), steps);
  near(round(128, 512, dense, { ...DRAFT, alpha: needed }).speedup, 1);
  assert.equal(round(4096, 1, dense, { ...DRAFT, cost: 0.5 }).needed, null);
  assert.equal(round(1, 512, dense, { ...DRAFT, cost: 0 }).needed, 0);
});

test("the roof has its corner where both times are equal, and every mark is on the picture", () => {
  near(round(1, 512).corner, 1307.4 / 5.3);
  for (const each of machines) {
    const { at, y } = scales(400, each);
    assert.deepEqual([at(1).y, at(1e6).y], [y(each.terabytes), y(each.teraflops)]);
    for (const shape of models)
      for (const batch of STOPS.batch)
        for (const { intensity } of [1, 11].map((tokens) => pass({ machine: each, shape, batch, context: 512 }, tokens)).flatMap(({ weights, caches }) => [weights, caches])) {
          const found = at(intensity);
          assert.ok(found.x > 42 && found.x < 390 && found.y > 20 && found.y < 265, `${intensity}`);
        }
  }
});

const SENTENCES = /** @type {Record<string, string>} */ ({
  headline: "{word}, {times}", verdict: "{check} for {tokens}, {round} for {written}.", above: "above {needed}", always: "always", never: "never",
  free: "free.", experts: "{more_experts} experts, not {experts}.", busy: "{all} tokens.", caches: "{share} attention.", speeds: "{alone}", memory: "{memory}",
});

test("the verdict has the words of the one judge, and the reasons fit it", () => {
  const said = (/** @type {Parameters<typeof round>} */ ...given) => outcomeOf(round(...given), { sentences: SENTENCES, judged: JUDGED });
  assert.deepEqual([1.06, 1.05, 1, 0.96, 0.95].map((ratio) => wordOf(ratio, JUDGED)), ["helps", "even", "even", "even", "hurts"]);
  assert.match(said(1, 512).headline, /^Helps, 2\.\d\d×$/);
  assert.match(said(256, 512).says, /^2.\d\d for 5, \d.\d\d for 2\.77\. above \d+\u00a0%$/);
  assert.match(said(4096, 1, dense, { ...DRAFT, cost: 0.5 }).says, /never$/);
  assert.match(said(1, 512, dense, { ...DRAFT, cost: 0 }).says, /always$/);
  assert.equal(said(1, 512).why, "free.");
  assert.match(said(256, 512).why, /^1,280 tokens\./);
  assert.match(said(128, 8192).why, /640 tokens\. 90\u00a0% attention\.$/);
  assert.match(said(1, 512, qwen).why, /35\.3 experts, not 8\.0\./);
  assert.deepEqual([said(1, 512).memory, said(512, 131072).memory], ["", "8,812 GB"]);
});

test("figures are written as people read them, and an unknown name stays", () => {
  assert.deepEqual([0.00001, 0.0031, 0.031, 1.5].map(inMs), ["0.01 ms", "3.1 ms", "31 ms", "1,500 ms"]);
  assert.equal(filled("{a} of {b}", { a: "1" }), "1 of {b}");
  assert.deepEqual([valueOf("alpha", 0.7, {}), valueOf("cost", 0.05, { steps: "passes" }), valueOf("batch", 1, { text: "text" })], ["70 %", "0.05 passes", "1 text"]);
});

test("a machine or a model that is not published is refused", () => {
  assert.throws(() => round(1, 512, { ...dense, name: "no such" }), /There is no MI300X or no such/);
});
