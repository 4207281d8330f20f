// The engine in the browser, with the models that ship with the app.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN } from "../../assets/browser/engine/kernel_bytes.js";
import { Llama } from "../../assets/browser/engine/llama.js";
import { Random, Sampling, draw, softmax } from "../../assets/browser/engine/sampler.js";
import { tensorsIn } from "../../assets/browser/engine/models.js";
import { BlockRule, SamplingRule } from "../../assets/browser/engine/verification.js";
import { filesOf, loaded, settingsOf } from "./made_models.js";

const PROMPT = [0, 1273, 402, 261, 610, 44, 279, 3000, 17, 611, 5, 9];

test("a pass gives the same bits however many tokens it reads, and a cropped cache is as if nothing had been read", async () => {
  const { llama } = await loaded("wren-nano");
  const [whole, single] = [llama.cache(), llama.cache()];
  const rows = llama.read(whole, PROMPT);
  PROMPT.forEach((id, i) => assert.deepEqual(llama.read(single, [id])[0], rows[i]));
  whole.length = 4;
  assert.deepEqual(llama.read(whole, PROMPT.slice(4, 9)), rows.slice(4, 9));
});

test("the plain build of the kernel differs from the fused one by rounding alone", () => {
  const { config, weights } = filesOf("wren-nano");
  const file = new Uint8Array(weights);
  const [fused, plain] = [undefined, [PLAIN]].map((builds) => {
    const llama = new Llama(config, file, tensorsIn(file, "wren-nano"), builds);
    return llama.read(llama.cache(), PROMPT)[11];
  });
  fused.forEach((logit, id) => assert.ok(Math.abs(logit - plain[id]) < 1e-4));
});

function chiSquared(counts, probabilities) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count, i) => {
    if (!probabilities[i]) return count ? Infinity : sum;
    return sum + (count - total * probabilities[i]) ** 2 / (total * probabilities[i]);
  }, 0);
}

test("a seed gives its numbers again, and they are spread evenly", () => {
  const [one, same, other] = [new Random(7), new Random(7), new Random(8)];
  const numbers = Array.from({ length: 16_000 }, () => one.next());
  assert.deepEqual(numbers.slice(0, 9), Array.from({ length: 9 }, () => same.next()));
  assert.notEqual(other.next(), numbers[0]);
  const counts = new Array(16).fill(0);
  for (const number of numbers) counts[Math.floor(number * 16)] += 1;
  // 15 degrees of freedom: above 44.3 once in 10,000 seeds, and this seed is fixed
  assert.ok(chiSquared(counts, new Array(16).fill(1 / 16)) < 44.3);
});

test("temperature, top-k and top-p leave what they should", () => {
  const logits = [Float32Array.from([2, 1, 0, -1])];
  const scores = (changed) => [...new Sampling(settingsOf({ temperature: 1, ...changed }), new Random(0)).scores(logits)[0]];
  assert.deepEqual(scores({}), [...softmax(logits[0])]);
  for (const changed of [{ top_k: 2 }, { top_p: 0.7 }]) assert.deepEqual(scores(changed).map((p) => p > 0), [true, true, false, false]); // 0.64 alone is not enough
  assert.deepEqual(scores({ top_p: 0.5 }), [1, 0, 0, 0]);
});

// Two distributions over five tokens; each rule's output must be the target's, with and without a q of the draft.
const P = [[0.4, 0.3, 0.2, 0.1, 0], [0.1, 0.2, 0.3, 0.2, 0.2], [0.2, 0.2, 0.2, 0.2, 0.2]].map((row) => Float64Array.from(row));
const Q = [[0.2, 0.2, 0.2, 0.2, 0.2], [0.5, 0.1, 0.1, 0.2, 0.1]].map((row) => Float64Array.from(row));

for (const [Rule, certain] of [[SamplingRule, false], [SamplingRule, true], [BlockRule, false], [BlockRule, true]]) {
  test(`the first two tokens of ${Rule.name} are distributed as the target's, q ${certain ? "a point mass" : "known"}`, () => {
    const random = new Random(3);
    const rule = new Rule(random);
    const counts = new Array(25).fill(0);
    for (let i = 0; i < 50_000; i += 1) {
      const tokenIds = certain ? [1, 2] : Q.map((q) => draw(q, random));
      const { accepted, tokenId } = rule.verify({ tokenIds, draftScores: certain ? null : Q }, P);
      const text = [...tokenIds.slice(0, accepted), tokenId];
      if (text.length === 1) text.push(draw(P[1], random)); // the next round begins with the target's own
      counts[text[0] * 5 + text[1]] += 1;
    }
    const expected = Array.from({ length: 25 }, (_, i) => P[0][Math.floor(i / 5)] * P[1][i % 5]);
    // 19 degrees of freedom (a fifth of the pairs is impossible): above 50.8 once in 10,000 seeds; this one is fixed
    assert.ok(chiSquared(counts, expected) < 50.8);
  });
}

test("weights that are not whole, of another format or of another model are refused by a sentence", () => {
  const { config, weights } = filesOf("wren-nano");
  const file = new Uint8Array(weights);
  for (const damaged of [file.subarray(0, 4), file.subarray(0, 600), file.subarray(0, -1), new Uint8Array(100).fill(255)]) {
    assert.throws(() => tensorsIn(damaged, "wren-nano"), /The weights of wren-nano are damaged or not whole/);
  }
  const tensors = tensorsIn(file, "wren-nano");
  tensors.delete("model.norm.weight");
  assert.throws(() => new Llama(config, file, tensors), /The weights lack model\.norm\.weight/);
  assert.throws(() => new Llama(config, file, tensors, []), /no WebAssembly with SIMD/);
});

test("the tokenizer writes any text again, and a cut character as its sign", async () => { // tests/bundled has the ids, engine_worker.test.js what is shown
  const { tokenizer } = await loaded("wren-nano");
  const strange = "<|endoftext|> é漢🙂\u0000 \n\n x";
  assert.equal(tokenizer.decode(tokenizer.encode(strange)), strange);
  assert.match(tokenizer.decode(tokenizer.encode("🙂").slice(0, -1)), /^\ufffd+$/);
});
