/** Reads a safetensors file: eight bytes with the length of a JSON header, the header, then the numbers. */

import { PlainError } from "./plain_error.js";
import { say } from "./words.js";

export type Entry = { dtype: string, shape: number[], data_offsets: [number, number] };

/**
 * Where each tensor lies in the file, in bytes from its start. `name`: of the model, for a sentence. Throws PlainError it is
 * no such file, it is not whole, or its numbers are not bfloat16
 */
export function tensorsIn(file: Uint8Array<ArrayBuffer>, name: string): Map<string, { at: number, shape: number[] }> {
  const damaged = new PlainError(say("damaged", { name }));
  const { header, start } = headerOf(file, damaged);
  const tensors = new Map();
  for (const [key, entry] of Object.entries(header)) {
    if (key === "__metadata__") continue;
    const { dtype, shape, data_offsets } = entry as Entry;
    const [from, to] = data_offsets;
    const numbers = shape.reduce((product, size) => product * size, 1);
    if (dtype !== "BF16" || to - from !== 2 * numbers || start + to > file.length) throw damaged;
    tensors.set(key, { at: start + from, shape });
  }
  return tensors;
}

function headerOf(file: Uint8Array<ArrayBuffer>, damaged: PlainError) {
  if (file.length < 8) throw damaged;
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (8 + length > file.length) throw damaged;
  try {
    return { header: JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))), start: 8 + length };
  } catch {
    throw damaged;
  }
}
