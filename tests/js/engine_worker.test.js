// What a page sends the engine, and what it is sent.

import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { Engine } from "../../assets/browser/engine/engine.js";
import { filesOf, firstTrace, settingsOf } from "./made_models.js";

const sent = [];
const engine = new Engine({ postMessage: (message) => void sent.push(structuredClone(message)), onmessage: null });

before(async () => {
  await engine.take({ kind: "open", models: { "wren-base": filesOf("wren-base"), "wren-nano": filesOf("wren-nano") } });
  assert.deepEqual(sent, [{ kind: "ready", models: ["wren-base", "wren-nano"] }]);
});

beforeEach(() => void sent.splice(0));

const START = "Once upon a time, there was a little girl named";
const asked = (changed, settings) => ({ prompt: START, target: "wren-base", draft: "wren-nano", settings: settingsOf(settings), ...changed });

const FEW = { max_new_tokens: 16 };

/** What is sent last of a run with these changes. */
async function ran(id, changed = {}, settings = {}) {
  sent.splice(0);
  await engine.take({ kind: "run", id, request: asked(changed, settings) });
  return sent.at(-1);
}

const works = async () => assert.equal((await ran(99, {}, { max_new_tokens: 3 })).kind, "done");
const idsOf = (kind) => sent.filter((message) => message.kind === kind).map(({ id }) => id);

/** Rounds without the probabilities, which differ by rounding. */
function withoutNumbers(rounds) {
  const ids = (candidates) => candidates.map(([id, text]) => [id, text]);
  return rounds.map(({ index, drafted, emitted }) => [
    index,
    drafted.map((token) => [token.id, token.text, token.status, token.accept_prob, token.u, ids(token.candidates)]),
    [emitted.kind, emitted.id, emitted.text, ids(emitted.candidates), emitted.residual_top],
  ]);
}

test("a run has the rounds that PyTorch made; the first is sent at once, and every trace has only more", async () => {
  const { kind, id, trace, guesses } = await ran(1);
  assert.deepEqual([kind, id], ["done", 1]);
  const first = firstTrace();
  assert.deepEqual(withoutNumbers(trace.rounds), withoutNumbers(first.rounds));
  assert.deepEqual([trace.output, trace.prompt, trace.settings], [first.output, first.prompt, first.settings]);
  assert.deepEqual(trace.autoregressive.token_ids, first.autoregressive.token_ids);
  assert.deepEqual([trace.target, trace.drafter], [first.target, first.drafter]);
  const probabilities = ({ rounds }) => rounds.flatMap(({ emitted, drafted }) => [emitted.target_prob, ...drafted.map((token) => token.draft_prob)]);
  const theirs = probabilities(first);
  probabilities(trace).forEach((own, i) => assert.ok(Math.abs(own - theirs[i]) < 1e-4));
  assert.deepEqual(guesses.token_ids, first.output.token_ids);
  const counts = sent.map((message) => message.trace.rounds.length);
  assert.deepEqual([sent[0].kind, counts[0]], ["trace", 1]);
  assert.deepEqual(counts, counts.toSorted((a, b) => a - b));
});

test("it says that it is alive, also while it decodes", async () => {
  await engine.take({ kind: "ping" });
  assert.deepEqual(sent, [{ kind: "alive" }]);
  const run = engine.take({ kind: "run", id: 21, request: asked({}, FEW) });
  await engine.take({ kind: "ping" });
  await run;
  const kinds = sent.map(({ kind }) => kind);
  assert.ok(kinds.lastIndexOf("alive") < kinds.indexOf("done"));
});

test("a newer run takes the place of an older one, and stop ends one", async () => {
  await Promise.all([engine.take({ kind: "run", id: 3, request: asked() }), engine.take({ kind: "run", id: 4, request: asked({ draft: "prompt-lookup" }, FEW) })]);
  assert.deepEqual(idsOf("done"), [4]);
  sent.splice(0);
  const stopped = engine.take({ kind: "run", id: 5, request: asked() });
  await engine.take({ kind: "stop", id: 5 });
  await stopped;
  assert.deepEqual(idsOf("done"), []);
  for (let i = 0; i < 3; i += 1) await works(); // the caches are free again
});

for (const [changed, sentence] of [
  [{ prompt: "" }, /^The prompt is empty/],
  [{ draft: "wren-huge" }, /^wren-huge is not among the models of this page: wren-base, wren-nano\.$/],
  [{ prompt: "word ".repeat(600) }, /do not fit wren-base's context window of 512 tokens\.$/],
]) {
  test(`what cannot be run is a sentence, and the next run works: ${sentence}`, async () => {
    assert.match((await ran(10, changed)).sentence, sentence);
    assert.deepEqual(sent.map(({ kind, id }) => [kind, id]), [["failed", 10]]);
    await works();
  });
}

test("a model drafts for itself: it accepts every guess, and the next run works", async () => {
  for (const id of [30, 31, 32]) {
    const { kind, trace } = await ran(id, { target: "wren-nano" }, { max_new_tokens: 12 });
    assert.equal(kind, "done");
    assert.deepEqual(trace.output.token_ids, trace.autoregressive.token_ids);
    for (const { drafted } of trace.rounds) for (const { status } of drafted) assert.equal(status, "accepted");
  }
});

test("whatever fails in a run, it gives back what it took", async () => {
  const { llama } = engine._models.get("wren-nano");
  const [read, free] = [llama.read, llama._free.length];
  for (const good of [0, 1, 3, 9]) {
    let passes = 0;
    llama.read = (...given) => {
      if ((passes += 1) > good) throw new Error("made to fail");
      return read.apply(llama, given);
    };
    assert.equal((await ran(40 + good, { target: "wren-nano" })).kind, "failed");
    assert.equal(llama._free.length, llama._caches);
  }
  llama.read = read;
  assert.ok(free >= 2);
  await works();
});

for (const [what, changed, sentence] of [
  ["a wrong checksum", () => ({ sha256: "0".repeat(64) }), /^The weights of wren-nano are damaged or not whole: their checksum/],
  ["an address without an answer", () => ({ weights: "http://127.0.0.1:9/nothing" }), /^The weights of wren-nano cannot be loaded\. Is there a network\?/],
]) {
  test(`${what} is a sentence, and the models of before stay`, async () => {
    const files = filesOf("wren-nano");
    await engine.take({ kind: "open", models: { "wren-nano": { ...files, ...changed(files) } } });
    assert.deepEqual(sent.map(({ kind }) => kind), ["failed"]);
    assert.match(sent[0].sentence, sentence);
    await works();
  });
}

test("a sampled run is the same again with its seed, and another one with another", async () => {
  const texts = [];
  for (const seed of [1, 1, 2]) {
    const { trace, guesses } = await ran(13, {}, { temperature: 0.9, seed, verification: "block", max_new_tokens: 12 });
    assert.equal(guesses, null);
    for (const { drafted } of trace.rounds) for (const { accept_prob } of drafted) assert.ok(accept_prob === null || accept_prob <= 1);
    texts.push(trace.output.text);
  }
  assert.equal(texts[0], texts[1]);
  assert.notEqual(texts[0], texts[2]);
});

test("what a draft guesses along the text is what it drafted wherever a round began", async () => {
  for (const draft of ["wren-nano", "prompt-lookup"]) {
    const { trace, guesses } = await ran(50, { draft });
    let [start, drafted] = [0, 0];
    for (const round of trace.rounds) {
      const judged = round.drafted.filter(({ status }) => status !== "discarded").map(({ id }) => id);
      const along = guesses.proposals?.[start] ?? guesses.guesses.slice(start);
      assert.deepEqual(along.slice(0, judged.length), judged, `${draft}, from ${start} on`);
      start += round.drafted.filter(({ status }) => status === "accepted").length + Number(round.emitted.kind !== "none");
      drafted += judged.length;
    }
    assert.ok(start === guesses.token_ids.length && drafted > 0);
  }
});

test("each time of a run is of the model that took it", async () => {
  const [own, took] = [performance.now, { "wren-base": 1000, "wren-nano": 10 }]; // ms of a pass
  const llamas = Object.keys(took).map((name) => engine._models.get(name).llama);
  const reads = llamas.map(({ read }) => read);
  let clock = 0;
  performance.now = () => clock;
  Object.values(took).forEach((ms, i) => (llamas[i].read = (...given) => ((clock += ms), reads[i].apply(llamas[i], given))));
  const { trace } = await ran(51, {}, { max_new_tokens: 9 }).finally(() => {
    performance.now = own;
    llamas.forEach((llama, i) => (llama.read = reads[i]));
  });
  const ms = (seconds) => Math.round(1000 * seconds);
  assert.deepEqual(Object.values(trace.prefill_seconds).map(ms), [1000, 10]);
  for (const { drafted, draft_seconds: draft, verify_seconds: verify, overhead_seconds: rest } of trace.rounds) assert.deepEqual([draft, verify, rest].map(ms), [10 * drafted.length, 1000, 0]);
  for (const seconds of trace.autoregressive.seconds_per_token) assert.equal(ms(seconds), 1000);
});
