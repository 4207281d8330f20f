// What a page sends the engine, and what it is sent.

import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { Engine } from "../../assets/browser/engine/engine.js";
import { filesOf, firstTrace, settingsOf } from "./made_models.js";

/** @type {any[]} */
const sent = [];
const port = { postMessage: (/** @type {unknown} */ message) => void sent.push(structuredClone(message)), onmessage: null };
const engine = new Engine(port);

before(async () => {
  await engine.take({ kind: "open", models: { "wren-base": filesOf("wren-base"), "wren-nano": filesOf("wren-nano") } });
  assert.deepEqual(sent, [{ kind: "ready", models: ["wren-base", "wren-nano"] }]);
});

beforeEach(() => void sent.splice(0));

function asked(changed = {}, settings = {}) {
  const prompt = "Once upon a time, there was a little girl named";
  return { prompt, target: "wren-base", draft: "wren-nano", settings: settingsOf(settings), ...changed };
}

test("a run has the rounds that PyTorch made: ids, fates and candidates, and probabilities but for rounding", async () => {
  await engine.take({ kind: "run", id: 1, request: asked() });
  const { kind, id, trace, guesses } = sent[sent.length - 1];
  assert.deepEqual([kind, id], ["done", 1]);
  const first = firstTrace();
  assert.deepEqual(withoutNumbers(trace.rounds), withoutNumbers(first.rounds));
  assert.deepEqual([trace.output, trace.prompt, trace.settings], [first.output, first.prompt, first.settings]);
  assert.deepEqual(trace.autoregressive.token_ids, first.autoregressive.token_ids);
  assert.deepEqual([trace.target, trace.drafter], [first.target, first.drafter]);
  const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e-4);
  trace.rounds.forEach((/** @type {any} */ round, /** @type {number} */ i) => {
    near(round.emitted.target_prob, first.rounds[i].emitted.target_prob);
    round.drafted.forEach((/** @type {any} */ token, /** @type {number} */ j) => near(token.draft_prob, first.rounds[i].drafted[j].draft_prob));
  });
  assert.deepEqual(guesses.token_ids, first.output.token_ids);
});

/** @param {any[]} rounds */
function withoutNumbers(rounds) {
  const ids = (/** @type {any[]} */ candidates) => candidates.map(([id, text]) => [id, text]);
  return rounds.map(({ index, drafted, emitted }) => [
    index,
    drafted.map((/** @type {any} */ token) => [token.id, token.text, token.status, token.accept_prob, token.u, ids(token.candidates)]),
    [emitted.kind, emitted.id, emitted.text, ids(emitted.candidates), emitted.residual_top],
  ]);
}

test("the first round is sent at once, and every trace has only more", async () => {
  await engine.take({ kind: "run", id: 2, request: asked() });
  const counts = sent.map(({ trace }) => trace.rounds.length);
  assert.equal(sent[0].kind, "trace");
  assert.equal(counts[0], 1);
  assert.deepEqual(counts, counts.toSorted((a, b) => a - b));
});

test("it says that it is alive, also while it decodes", async () => {
  await engine.take({ kind: "ping" });
  assert.deepEqual(sent, [{ kind: "alive" }]);
  const run = engine.take({ kind: "run", id: 21, request: asked() });
  await engine.take({ kind: "ping" });
  await run;
  const kinds = sent.map(({ kind }) => kind);
  assert.ok(kinds.lastIndexOf("alive") < kinds.indexOf("done"));
});

test("a newer run takes the place of an older one, and stop ends one", async () => {
  const older = engine.take({ kind: "run", id: 3, request: asked() });
  await Promise.all([older, engine.take({ kind: "run", id: 4, request: asked({ draft: "prompt-lookup" }) })]);
  assert.deepEqual(sent.filter(({ kind }) => kind === "done").map(({ id }) => id), [4]);
  sent.splice(0);
  const stopped = engine.take({ kind: "run", id: 5, request: asked() });
  await engine.take({ kind: "stop", id: 5 });
  await stopped;
  assert.deepEqual(sent.filter(({ kind }) => kind === "done"), []);
  for (let id = 6; id < 9; id += 1) await engine.take({ kind: "run", id, request: asked({}, { max_new_tokens: 2 }) }); // the caches are free again
  assert.deepEqual(sent.filter(({ kind }) => kind === "done").map(({ id }) => id), [6, 7, 8]);
});

test("what cannot be run is a sentence, and the next run works", async () => {
  for (const [changed, settings, sentence] of /** @type {Array<[object, object, RegExp]>} */ ([
    [{ prompt: "" }, {}, /^The prompt is empty/],
    [{ draft: "wren-huge" }, {}, /^wren-huge is not among the models of this page: wren-base, wren-nano\.$/],
    [{ prompt: "word ".repeat(600) }, {}, /do not fit wren-base's context window of 512 tokens\.$/],
  ])) {
    sent.splice(0);
    await engine.take({ kind: "run", id: 10, request: asked(changed, settings) });
    assert.deepEqual(sent.map(({ kind, id }) => [kind, id]), [["failed", 10]]);
    assert.match(sent[0].sentence, sentence);
  }
  await engine.take({ kind: "run", id: 11, request: asked({}, { max_new_tokens: 3 }) });
  assert.equal(sent[sent.length - 1].kind, "done");
});

test("a model drafts for itself: it accepts every guess, and the next run works", async () => {
  for (const id of [30, 31, 32]) {
    sent.splice(0);
    await engine.take({ kind: "run", id, request: asked({ target: "wren-nano" }, { max_new_tokens: 12 }) });
    const { kind, trace } = sent[sent.length - 1];
    assert.equal(kind, "done");
    assert.deepEqual(trace.output.token_ids, trace.autoregressive.token_ids);
    for (const { drafted } of trace.rounds) for (const { status } of drafted) assert.equal(status, "accepted");
  }
});

test("whatever fails in a run, it gives back what it took", async () => {
  const { llama } = /** @type {any} */ (engine)._models.get("wren-nano");
  const [read, free] = [llama.read, llama._free.length];
  for (const good of [0, 1, 3, 9]) {
    let passes = 0;
    llama.read = (/** @type {any[]} */ ...given) => {
      if ((passes += 1) > good) throw new Error("made to fail");
      return read.apply(llama, given);
    };
    sent.splice(0);
    await engine.take({ kind: "run", id: 40 + good, request: asked({ target: "wren-nano" }) });
    assert.equal(sent.at(-1).kind, "failed");
    assert.equal(llama._free.length, llama._caches);
  }
  llama.read = read;
  assert.ok(free >= 2);
  sent.splice(0);
  await engine.take({ kind: "run", id: 50, request: asked({ target: "wren-nano" }, { max_new_tokens: 3 }) });
  assert.equal(sent.at(-1).kind, "done");
});

test("a wrong checksum, a cut file and an address without an answer are sentences; the models of before stay", async () => {
  const files = filesOf("wren-nano");
  for (const [changed, sentence] of /** @type {Array<[object, RegExp]>} */ ([
    [{ sha256: "0".repeat(64) }, /^The weights of wren-nano are damaged or not whole: their checksum/],
    [{ weights: files.weights.slice(0, 10_000) }, /^The weights of wren-nano are damaged or not whole/],
    [{ weights: "http://127.0.0.1:9/nothing" }, /^The weights of wren-nano cannot be loaded\. Is there a network\?/],
  ])) {
    sent.splice(0);
    await engine.take({ kind: "open", models: { "wren-nano": { ...files, ...changed } } });
    assert.deepEqual(sent.map(({ kind }) => kind), ["failed"]);
    assert.match(sent[0].sentence, sentence);
  }
  await engine.take({ kind: "run", id: 12, request: asked({}, { max_new_tokens: 3 }) });
  assert.equal(sent[sent.length - 1].kind, "done");
});

test("a sampled run is the same again with its seed, and another one with another", async () => {
  const outputs = [];
  for (const seed of [1, 1, 2]) {
    await engine.take({ kind: "run", id: 13 + outputs.length, request: asked({}, { temperature: 0.9, seed, verification: "block", max_new_tokens: 24 }) });
    const { trace, guesses } = sent[sent.length - 1];
    assert.equal(guesses, null);
    for (const { drafted } of trace.rounds) for (const { accept_prob } of drafted) assert.ok(accept_prob === null || accept_prob <= 1);
    outputs.push(trace.output.text);
  }
  assert.equal(outputs[0], outputs[1]);
  assert.notEqual(outputs[0], outputs[2]);
});
