/** The kernel of `arithmetic.ts` in a memory of its own: with relaxed SIMD where the browser has it, else without. */

import { bytesOf } from "../shared/bytes.js";
import { PLAIN, RELAXED } from "./kernel_bytes.js";
import { PlainError, say } from "./words.js";

const PAGE = 65_536; // bytes

/** What `arithmetic.ts` exports; see there. Addresses are in bytes. */
export interface Kernel {
  embed: (row: number, out: number, width: number) => void;
  add: (x: number, out: number, count: number) => void;
  norm: (x: number, weight: number, out: number, count: number, width: number, eps: number) => void;
  linear: (x: number, sorted: number, weight: number, out: number, count: number, outs: number, ins: number) => void;
  rotate: (x: number, cos: number, sin: number, count: number, heads: number, size: number) => void;
  attention: (queries: number, keys: number, values: number, shares: number, out: number, count: number, past: number, heads: number, kvHeads: number, size: number) => void;
  gated: (gate: number, up: number, count: number) => void;
}

export type Machine = { kernel: Kernel, memory: WebAssembly.Memory, simd: string };

/**
 * The kernel with room for so many bytes. `builds`: in base64, the one to prefer first. Throws PlainError the browser has no
 * WebAssembly with SIMD, or too little memory
 */
export function startKernel(bytes: number, builds: string[] = [RELAXED, PLAIN]): Machine {
  const fitting = typeof WebAssembly === "object" ? builds.map(bytesOf).find((build) => WebAssembly.validate(build)) : null;
  if (!fitting) throw new PlainError(say("no_simd"));
  const memory = enough(bytes, (pages) => new WebAssembly.Memory({ initial: pages }));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fitting), { env: { memory } });
  const simd = fitting.length === bytesOf(RELAXED).length ? "relaxed SIMD" : "SIMD";
  return { kernel: exports as unknown as Kernel, memory, simd };
}

/**
 * The end of the memory, after which there is room for so many bytes more. What was a view of the memory is none any more.
 * Throws PlainError the browser has too little memory
 */
export function grown(memory: WebAssembly.Memory, bytes: number) {
  return PAGE * enough(bytes, (pages) => memory.grow(pages));
}

function enough<T>(bytes: number, take: (pages: number) => T) {
  try {
    return take(Math.ceil(bytes / PAGE));
  } catch {
    throw new PlainError(say("no_memory", { megabytes: Math.ceil(bytes / 1e6) }));
  }
}
