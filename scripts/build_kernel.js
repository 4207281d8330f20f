// Compiles assets/browser/engine/arithmetic.ts to WebAssembly and writes assets/browser/engine/kernel_bytes.js: npm run kernel

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const ENGINE = fileURLToPath(new URL("../assets/browser/engine/", import.meta.url));
const COMPILER = fileURLToPath(new URL("../node_modules/assemblyscript/bin/asc.js", import.meta.url));
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", "simd"];

/**
 * The kernel's bytes in base64.
 * @param {string[]} more options of the compiler
 */
function compiled(more) {
  const folder = mkdtempSync(`${tmpdir()}/kernel-`);
  const file = `${folder}/kernel.wasm`;
  try {
    execFileSync(process.execPath, [COMPILER, `${ENGINE}arithmetic.ts`, ...OPTIONS, ...more, "--outFile", file]);
    return readFileSync(file).toString("base64");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What kernel_bytes.js has in it. */
export function written() {
  return [
    "// Made by `npm run kernel` from arithmetic.ts: WebAssembly in base64, with relaxed SIMD and without.",
    "",
    `export const RELAXED = "${compiled(["--enable", "relaxed-simd"])}";`,
    "",
    `export const PLAIN = "${compiled([])}";`,
    "",
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${ENGINE}kernel_bytes.js`, written());
