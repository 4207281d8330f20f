// For node: reads TypeScript as it is, and finds it where a module asks for the JavaScript that it becomes.

import { existsSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transformSync } from "esbuild";

if (isMainThread) register(import.meta.url);

/** @type {import("node:module").ResolveHook} */
export async function resolve(asked, context, next) {
  if (asked.startsWith(".") || asked.startsWith("file:")) {
    const script = fileURLToPath(new URL(asked, context.parentURL));
    const source = [".ts", ".tsx"].map((end) => script.replace(/\.js$/, end)).find((file) => script.endsWith(".js") && !existsSync(script) && existsSync(file));
    if (source) return { url: `file://${source}`, shortCircuit: true };
  }
  return next(asked, context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  const loader = /\.(tsx?)$/.exec(url)?.[1];
  if (!loader) return next(url, context);
  const { code } = transformSync(readFileSync(fileURLToPath(url), "utf-8"), {
    loader: loader === "ts" ? "ts" : "tsx", jsx: "automatic", jsxImportSource: "preact", sourcemap: "inline",
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  });
  return { format: "module", source: code, shortCircuit: true };
}
