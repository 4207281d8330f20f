/** SHA-256 of a file: the browser's own where the page has it, else computed here (a page over plain http has none). */

/** In hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>) {
  const digest = globalThis.crypto?.subtle ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)) : computed(bytes);
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const BLOCK = 64; // bytes
const LENGTH = 8; // bytes of the length at the end
const PRIMES = primes(64);
const FIRST = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUND = PRIMES.map((prime) => fraction(Math.cbrt(prime)));

/** FIPS 180-4, section 6.2. */
export function computed(bytes: Uint8Array<ArrayBuffer>) {
  const whole = bytes.length - (bytes.length % BLOCK);
  const state = Uint32Array.from(FIRST);
  const words = new Uint32Array(BLOCK);
  addBlocks(state, words, new DataView(bytes.buffer, bytes.byteOffset, whole));
  addBlocks(state, words, new DataView(endOf(bytes.subarray(whole), bytes.length).buffer));
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

/** The last bytes, a one, zeros, and the length in bits. `length`: of the whole in bytes */
function endOf(rest: Uint8Array, length: number) {
  const size = rest.length + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
  const end = new Uint8Array(size);
  end.set(rest);
  end[rest.length] = 0x80;
  new DataView(end.buffer).setBigUint64(size - LENGTH, 8n * BigInt(length));
  return end;
}

/** `words`: room for 64 */
function addBlocks(state: Uint32Array, words: Uint32Array, view: DataView) {
  for (let at = 0; at < view.byteLength; at += BLOCK) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [words[i - 15], words[i - 2]];
      const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
      const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
      words[i] = words[i - 16] + low + words[i - 7] + high;
    }
    mix(state, words);
  }
}

function mix(state: Uint32Array, words: Uint32Array) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}

/** `by`: bits, to the right */
function turned(word: number, by: number) {
  return (word >>> by) | (word << (32 - by));
}

function primes(count: number) {
  const found: number[] = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((prime) => n % prime)) found.push(n);
  return found;
}

/** The first 32 bits after the point. */
function fraction(value: number) {
  return Math.floor((value % 1) * 2 ** 32);
}
