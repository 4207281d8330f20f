// Compiles assets/engine/arithmetic.ts to WebAssembly and writes assets/engine/kernel_bytes.js: npm run kernel

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const ENGINE = fileURLToPath(new URL("../assets/engine/", import.meta.url));
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", "simd"];

/**
 * The kernel's bytes in base64.
 * @param {string[]} more options of the compiler
 */
export async function compile(more) {
  /** @type {Uint8Array | null} */
  let made = null;
  const { error, stderr } = await asc.main([`${ENGINE}arithmetic.ts`, ...OPTIONS, ...more, "--outFile", "kernel.wasm"], {
    writeFile: (name, content) => {
      if (name === "kernel.wasm") made = /** @type {Uint8Array} */ (content);
    },
  });
  if (error || !made) throw new Error(`The kernel cannot be compiled: ${error?.message}\n${stderr.toString()}`);
  return Buffer.from(made).toString("base64");
}

/** What kernel_bytes.js has in it. */
export async function written() {
  const [relaxed, plain] = [await compile(["--enable", "relaxed-simd"]), await compile([])];
  return [
    "// Made by `npm run kernel` from arithmetic.ts: WebAssembly in base64, with relaxed SIMD and without.",
    "",
    `export const RELAXED = "${relaxed}";`,
    "",
    `export const PLAIN = "${plain}";`,
    "",
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${ENGINE}kernel_bytes.js`, await written());
