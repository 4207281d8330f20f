// How a run in a browser names that browser, from what each says of itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { machineOf } from "../../assets/browser/engine/machine.js";

const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const CHROMIUM = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0";

/**
 * @param {string} userAgent
 * @param {number} hardwareConcurrency
 */
function named(userAgent, hardwareConcurrency) {
  Object.defineProperty(globalThis, "navigator", { value: { userAgent, hardwareConcurrency }, configurable: true });
  return machineOf(new Map()).machine;
}

for (const [userAgent, says] of [
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Version/60.5 Safari/605.1.15`, "a WebKit browser, WebAssembly with SIMD, Linux"],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/17.4 Safari/605.1.15`, "Safari 17, WebAssembly with SIMD, macOS"],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) ${WEBKIT} Version/17.4 Mobile/15E148 Safari/604.1`, "Safari 17, WebAssembly with SIMD, iOS"],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) ${WEBKIT} CriOS/130.0.1 Mobile/15E148 Safari/604.1`, "Chrome 130, WebAssembly with SIMD, iOS"],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) ${WEBKIT} FxiOS/131.0 Mobile/15E148 Safari/605.1.15`, "Firefox 131, WebAssembly with SIMD, iOS"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${CHROMIUM} Safari/537.36`, "Chrome 130, WebAssembly with SIMD, 6 cores, Linux"],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM} Mobile Safari/537.36 EdgA/130.0.0.0`, "Edge 130, WebAssembly with SIMD, 6 cores, Android"],
  [`Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36`, "Samsung Internet 27, WebAssembly with SIMD, 6 cores, Android"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox 140, WebAssembly with SIMD, 6 cores, Linux"],
  ["something else", "a browser, WebAssembly with SIMD, 6 cores, another system"],
]) {
  test(`it is ${says}`, () => assert.equal(named(userAgent, 6), says));
}

test("one core is one, and none that the browser does not tell", () => {
  assert.match(named("Firefox/140.0", 1), /, 1 core,/);
  assert.doesNotMatch(named("Firefox/140.0", 0), /core/);
});
