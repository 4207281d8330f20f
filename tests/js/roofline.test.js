// The lesson about latency and throughput: the formulas, on the published figures. rendered.js has what is said of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { STOPS, parameters, pass } from "../../assets/browser/roofline/model.js";
import { scales } from "../../assets/browser/roofline/roofline.js";
import { tokensOfRound } from "../../assets/browser/shared/theory.js";
import { DRAFT, LOAD, loadOf as round } from "./made_rounds.js";

const { machines, models } = LOAD;
const [dense, mixtral, qwen] = models;
const machine = machines.find(({ short }) => short === "MI300X");
const setting = (batch, context, shape = dense) => ({ machine, shape, batch, context });
const near = (one, other, share = 1e-9) => assert.ok(Math.abs(one - other) <= share * Math.abs(other), `${one} is not ${other}`);

test("the shapes have as many weights as their makers say", () => {
  assert.equal(models.length, 3);
  for (const shape of models) near(parameters(shape), shape.billions * 1e9, 0.005);
});

test("random routing touches so many different experts", () => {
  const touched = (shape, tokens) => pass(setting(1, 512, shape), tokens).touched;
  near(touched(mixtral, 1), 2);
  near(touched(mixtral, 5), 8 * (1 - 0.75 ** 5));
  assert.equal(touched(dense, 7), 1);
  near(touched(qwen, 10_000), 128);
  let [sum, seed] = [0, 1]; // drawn: each of five tokens takes two different ones of eight
  for (let drawing = 0; drawing < 20_000; drawing += 1) {
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
  near(sum / 20_000, touched(mixtral, 5), 0.01);
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

test("matrices do as many operations a byte as there are tokens in the pass, attention as many as share a cache, experts far fewer", () => {
  for (const batch of [1, 16, 256]) {
    const { weights, caches } = pass(setting(batch, 2048), 5);
    near(weights.intensity, 5 * batch);
    near(caches.intensity, (5 * 32) / 8);
  }
  near(pass(setting(8, 512), 1).weights.intensity, 8);
  for (const shape of [mixtral, qwen]) assert.ok(pass(setting(8, 512, shape), 1).weights.intensity < 2.5);
});

test("a check is a plain pass where the machine waits, and as many as it has tokens where it is busy", () => {
  near(round(1, 512).growth, 1);
  near(round(4096, 1).growth, 5, 0.01);
  for (const batch of STOPS.batch) assert.ok(round(batch, 512).growth >= 1);
});

test("the gain of one text is lost in a large batch of short ones; a long context brings it back; experts change it", () => {
  const gain = (batch, shape, context = 512) => round(batch, context, shape).speedup;
  const gains = STOPS.batch.map((batch) => gain(batch));
  assert.ok(gains[0] > 2 && gains.at(-1) < 1);
  assert.ok(gains.every((each, i) => i === 0 || each <= gains[i - 1] + 1e-9)); // never up again
  const rounds = STOPS.context.map((context) => round(128, context));
  assert.ok(rounds.every(({ speedup }, i) => i === 0 || speedup > rounds[i - 1].speedup));
  const [short, , long] = rounds.map(({ plain }) => plain.caches.seconds / plain.seconds);
  assert.ok(short < 0.5 && long > 0.8); // the share of attention grows, and a check fetches it once
  assert.ok(gain(1, mixtral) < 1 && gain(32, mixtral) > 2 && gain(512, mixtral) < gain(32, mixtral));
  assert.ok(gain(1, qwen) < 1 && gain(64, qwen) > 2);
  const everyone = { ...qwen, experts: 1, active: 1 };
  near(pass(setting(1, 512, everyone), 5).seconds, pass(setting(1, 512, everyone), 1).seconds); // dense: nothing more to fetch
});

test("a round writes 1 + α + … + α^γ tokens, and breaks even where it writes what it costs", () => {
  near(tokensOfRound(0.7, 4), 1 + 0.7 + 0.49 + 0.343 + 0.2401);
  assert.deepEqual([tokensOfRound(1, 4), tokensOfRound(0, 4)], [5, 1]);
  const { needed, steps } = round(128, 512);
  assert.ok(needed > 0 && needed < 1);
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
    const passes = models.flatMap((shape) => STOPS.batch.flatMap((batch) => [1, 11].map((tokens) => pass({ machine: each, shape, batch, context: 512 }, tokens))));
    for (const { intensity } of passes.flatMap(({ weights, caches }) => [weights, caches])) {
      const found = at(intensity);
      assert.ok(found.x > 42 && found.x < 390 && found.y > 20 && found.y < 265, `${intensity}`);
    }
  }
});

test("a machine or a model that is not published is refused", () => {
  assert.throws(() => round(1, 512, { ...dense, name: "no such" }), /There is no MI300X or no such/);
});
