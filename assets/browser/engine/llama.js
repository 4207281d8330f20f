/**
 * The model on one page: the forward pass of the Llama family, from token ids to the next token's logits.
 *
 *     token ids ── embedding ──> x
 *     for each layer:
 *         x = x + attention(norm(x))      every token looks at itself and at the tokens before it
 *         x = x + mlp(norm(x))            every token for itself
 *     norm(x) ── output embedding ──> logits
 *
 * The same as `specviz/models/llama.py`. The weights stay in bfloat16 in the kernel's memory, as the file has them.
 */

import { grown, startKernel } from "./kernel.js";
import { PlainError } from "./plain_error.js";
import { say } from "./words.js";

/** @typedef {{ at: number, shape: number[] }} Tensor where it lies in the file, in bytes */

/**
 * What is read of a config.json.
 * @typedef {object} Config
 * @property {string} model_type
 * @property {number} hidden_size
 * @property {number} intermediate_size
 * @property {number} num_attention_heads
 * @property {number} num_key_value_heads
 * @property {number} head_dim
 * @property {number} num_hidden_layers
 * @property {number} vocab_size
 * @property {number} max_position_embeddings
 * @property {number} rms_norm_eps
 * @property {boolean} tie_word_embeddings
 * @property {number} eos_token_id
 * @property {{ rope_theta: number }} rope_parameters
 */

/**
 * Addresses of one layer's weights.
 * @typedef {{ attentionNorm: number, query: number, key: number, value: number, attentionOut: number, mlpNorm: number, gate: number, up: number, down: number }} Layer
 */

/** The keys and values of a text: for each layer the keys of all places, then the values. */
/** @typedef {{ at: number, length: number }} Cache */

const FLOAT = 4; // bytes
const MOST = 128; // tokens in one pass
const CACHES = 2; // with room from the start: both decoders have their own
const MOST_CACHES = 4; // a model that drafts for itself has one more, and one for what it would have guessed
const ALIGN = 64;
const START = 65_536; // below it are the kernel's own tables

export class Llama {
  /**
   * @param {Config} config
   * @param {Uint8Array} file the safetensors file
   * @param {Map<string, Tensor>} tensors see `tensorsIn`
   * @param {string[]} [builds] of the kernel; see `startKernel`
   * @throws {PlainError} see `startKernel`; or a weight is missing
   */
  constructor(config, file, tensors, builds) {
    this._config = config;
    const width = config.num_key_value_heads * config.head_dim;
    this._layerBytes = 2 * config.max_position_embeddings * width * FLOAT;
    this._cacheBytes = config.num_hidden_layers * this._layerBytes;
    const { places, end } = this._plan(file.length);
    const { kernel, memory, simd } = startKernel(end + CACHES * this._cacheBytes, builds);
    this.simd = simd;
    this._kernel = kernel;
    this._memory = memory;
    this._places = places;
    this._free = Array.from({ length: CACHES }, (_, i) => end + i * this._cacheBytes);
    this._caches = CACHES;
    new Uint8Array(memory.buffer).set(file, places.weights);
    this._computeAngles();
    const at = (/** @type {string} */ name) => addressOf(tensors, name, places.weights);
    this._embedding = at("model.embed_tokens.weight");
    this._norm = at("model.norm.weight");
    this._output = config.tie_word_embeddings ? this._embedding : at("lm_head.weight");
    this._layers = Array.from({ length: config.num_hidden_layers }, (_, i) => layerAt(at, `model.layers.${i}`));
  }

  /**
   * An empty cache; give it back with `release`.
   * @returns {Cache}
   * @throws {PlainError} the browser has too little memory for one more
   */
  cache() {
    return { at: this._free.pop() ?? this._oneMore(), length: 0 };
  }

  /** Where a new cache begins: at the end of the memory, which grows. */
  _oneMore() {
    if (this._caches === MOST_CACHES) throw new Error("all caches are in use");
    const at = grown(this._memory, this._cacheBytes);
    this._caches += 1;
    return at;
  }

  /** @param {Cache} cache */
  release(cache) {
    if (!this._free.includes(cache.at)) this._free.push(cache.at);
  }

  /**
   * Read tokens after those in the cache, which grows by them; returns the logits after each, or after the last alone.
   * @param {Cache} cache
   * @param {number[]} ids at most 128
   */
  read(cache, ids, { last = false } = {}) {
    const { _kernel: kernel, _places: { x, normed }, _config: { hidden_size, rms_norm_eps } } = this;
    const count = ids.length;
    ids.forEach((id, i) => kernel.embed(this._embedding + id * hidden_size * 2, x + i * hidden_size * FLOAT, hidden_size));
    this._layers.forEach((layer, index) => {
      this._attention(layer, cache, index, count);
      this._mlp(layer, count);
    });
    kernel.norm(x, this._norm, normed, count, hidden_size, rms_norm_eps);
    cache.length += count;
    return this._logits(last ? count - 1 : 0, count);
  }

  /**
   * x += attention(norm(x))
   * @param {Layer} layer
   * @param {Cache} cache
   * @param {number} index of the layer
   * @param {number} count
   */
  _attention(layer, cache, index, count) {
    const { _kernel: kernel, _places: { x, normed, sorted, queries, shares, seen, cos, sin } } = this;
    const { hidden_size, num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: size, rms_norm_eps } = this._config;
    const keys = cache.at + index * this._layerBytes;
    const values = keys + this._layerBytes / 2;
    const past = cache.length;
    const [newKeys, newValues] = [keys, values].map((start) => start + past * kvHeads * size * FLOAT);
    const angle = (past * size * FLOAT) / 2;
    kernel.norm(x, layer.attentionNorm, normed, count, hidden_size, rms_norm_eps);
    kernel.linear(normed, sorted, layer.query, queries, count, heads * size, hidden_size);
    kernel.linear(normed, sorted, layer.key, newKeys, count, kvHeads * size, hidden_size);
    kernel.linear(normed, sorted, layer.value, newValues, count, kvHeads * size, hidden_size);
    kernel.rotate(queries, cos + angle, sin + angle, count, heads, size);
    kernel.rotate(newKeys, cos + angle, sin + angle, count, kvHeads, size);
    kernel.attention(queries, keys, values, shares, seen, count, past, heads, kvHeads, size);
    kernel.linear(seen, sorted, layer.attentionOut, normed, count, hidden_size, heads * size);
    kernel.add(normed, x, count * hidden_size);
  }

  /**
   * x += mlp(norm(x)), two layers with a gate
   * @param {Layer} layer
   * @param {number} count
   */
  _mlp(layer, count) {
    const { _kernel: kernel, _places: { x, normed, sorted, gate, up } } = this;
    const { hidden_size, intermediate_size: inner, rms_norm_eps } = this._config;
    kernel.norm(x, layer.mlpNorm, normed, count, hidden_size, rms_norm_eps);
    kernel.linear(normed, sorted, layer.gate, gate, count, inner, hidden_size);
    kernel.linear(normed, sorted, layer.up, up, count, inner, hidden_size);
    kernel.gated(gate, up, count * inner);
    kernel.linear(gate, sorted, layer.down, normed, count, hidden_size, inner);
    kernel.add(normed, x, count * hidden_size);
  }

  /**
   * What the model expects next after the tokens from `first` on: a row of the vocabulary each, copied out.
   * @param {number} first
   * @param {number} count
   */
  _logits(first, count) {
    const { _kernel: kernel, _places: { normed, sorted, logits } } = this;
    const { hidden_size, vocab_size } = this._config;
    const rows = count - first;
    kernel.linear(normed + first * hidden_size * FLOAT, sorted, this._output, logits, rows, vocab_size, hidden_size);
    const all = new Float32Array(this._memory.buffer, logits, rows * vocab_size).slice();
    return Array.from({ length: rows }, (_, i) => all.subarray(i * vocab_size, (i + 1) * vocab_size));
  }

  /**
   * Where in memory everything lies, one after the other; `end` is where the caches begin.
   * @param {number} weights bytes
   */
  _plan(weights) {
    const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads, head_dim: size } = this._config;
    const { vocab_size: vocabulary, max_position_embeddings: context } = this._config;
    const widest = Math.max(hidden, inner, heads * size);
    const sizes = {
      x: MOST * hidden, normed: MOST * hidden, sorted: MOST * widest, queries: MOST * heads * size, seen: MOST * heads * size,
      shares: context, gate: MOST * inner, up: MOST * inner, logits: MOST * vocabulary,
      cos: (context * size) / 2, sin: (context * size) / 2, weights: weights / FLOAT,
    };
    let end = START;
    const places = /** @type {Record<keyof typeof sizes, number>} */ ({});
    for (const [name, floats] of Object.entries(sizes)) {
      places[/** @type {keyof typeof sizes} */ (name)] = end;
      end += Math.ceil((floats * FLOAT) / ALIGN) * ALIGN;
    }
    return { places, end };
  }

  /** Cosines and sines of the angle of each place and each pair of a head's numbers (Su et al. 2021). */
  _computeAngles() {
    const { max_position_embeddings: context, head_dim: size, rope_parameters } = this._config;
    const pairs = size / 2;
    const [cos, sin] = [this._places.cos, this._places.sin].map((at) => new Float32Array(this._memory.buffer, at, context * pairs));
    for (let pair = 0; pair < pairs; pair += 1) {
      const frequency = Math.fround(1 / Math.fround(rope_parameters.rope_theta ** ((2 * pair) / size)));
      for (let place = 0; place < context; place += 1) {
        const angle = Math.fround(place * frequency); // float32, as the model was trained
        cos[place * pairs + pair] = Math.cos(angle);
        sin[place * pairs + pair] = Math.sin(angle);
      }
    }
  }
}

/**
 * @param {(name: string) => number} at
 * @param {string} layer
 * @returns {Layer}
 */
function layerAt(at, layer) {
  return {
    attentionNorm: at(`${layer}.input_layernorm.weight`),
    query: at(`${layer}.self_attn.q_proj.weight`),
    key: at(`${layer}.self_attn.k_proj.weight`),
    value: at(`${layer}.self_attn.v_proj.weight`),
    attentionOut: at(`${layer}.self_attn.o_proj.weight`),
    mlpNorm: at(`${layer}.post_attention_layernorm.weight`),
    gate: at(`${layer}.mlp.gate_proj.weight`),
    up: at(`${layer}.mlp.up_proj.weight`),
    down: at(`${layer}.mlp.down_proj.weight`),
  };
}

/**
 * @param {Map<string, Tensor>} tensors
 * @param {string} name
 * @param {number} start
 */
function addressOf(tensors, name, start) {
  const tensor = tensors.get(name);
  if (!tensor) throw new PlainError(say("other_model", { name }));
  return start + tensor.at;
}
