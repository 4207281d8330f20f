/** The kernel of `arithmetic.ts` in a memory of its own: with relaxed SIMD where the browser has it, else without. */

import { PLAIN, RELAXED } from "./kernel_bytes.js";
import { PlainError } from "./plain_error.js";
import { say } from "./words.js";

const PAGE = 65_536; // bytes

/**
 * What `arithmetic.ts` exports; see there. Addresses are in bytes.
 * @typedef {object} Kernel
 * @property {(row: number, out: number, width: number) => void} embed
 * @property {(x: number, out: number, count: number) => void} add
 * @property {(x: number, weight: number, out: number, count: number, width: number, eps: number) => void} norm
 * @property {(x: number, sorted: number, weight: number, out: number, count: number, outs: number, ins: number) => void} linear
 * @property {(x: number, cos: number, sin: number, count: number, heads: number, size: number) => void} rotate
 * @property {(queries: number, keys: number, values: number, shares: number, out: number, count: number, past: number, heads: number, kvHeads: number, size: number) => void} attention
 * @property {(gate: number, up: number, count: number) => void} gated
 */

/** @typedef {{ kernel: Kernel, memory: WebAssembly.Memory, simd: string }} Machine */

/**
 * The kernel with room for so many bytes.
 * @param {number} bytes
 * @param {string[]} builds in base64, the one to prefer first
 * @returns {Machine}
 * @throws {PlainError} the browser has no WebAssembly with SIMD, or too little memory
 */
export function startKernel(bytes, builds = [RELAXED, PLAIN]) {
  const fitting = typeof WebAssembly === "object" ? builds.map(bytesOf).find((build) => WebAssembly.validate(build)) : null;
  if (!fitting) throw new PlainError(say("no_simd"));
  const memory = room(bytes);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fitting), { env: { memory } });
  const simd = fitting.length === bytesOf(RELAXED).length ? "relaxed SIMD" : "SIMD";
  return { kernel: /** @type {Kernel} */ (/** @type {unknown} */ (exports)), memory, simd };
}

/**
 * The end of the memory, after which there is room for so many bytes more. What was a view of the memory is none any more.
 * @param {WebAssembly.Memory} memory
 * @param {number} bytes
 * @throws {PlainError} the browser has too little memory
 */
export function grown(memory, bytes) {
  return PAGE * enough(bytes, (pages) => memory.grow(pages));
}

/** @param {number} bytes */
function room(bytes) {
  return enough(bytes, (pages) => new WebAssembly.Memory({ initial: pages }));
}

/**
 * @template T
 * @param {number} bytes
 * @param {(pages: number) => T} take
 */
function enough(bytes, take) {
  try {
    return take(Math.ceil(bytes / PAGE));
  } catch {
    throw new PlainError(say("no_memory", { megabytes: Math.ceil(bytes / 1e6) }));
  }
}

/** @param {string} base64 */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
