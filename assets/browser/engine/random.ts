/** Random numbers that a seed gives again. They are not those of PyTorch, so a sampled text differs from the server's. */

const GOLDEN = 0x9e3779b9; // 2^32 divided by the golden ratio
const WARM_UP = 12; // rounds in which a small seed reaches all bits

/** sfc32 of PractRand (Chris Doty-Humphrey, 2010; public domain): 128 bits of state, period at least 2^32. */
export class Random {
  _state;

  constructor(seed: number) {
    this._state = new Uint32Array([seed, Math.floor(seed / 2 ** 32), GOLDEN, 1]);
    for (let i = 0; i < WARM_UP; i += 1) this._bits();
  }

  /** At least 0 and below 1, with 53 bits. */
  next() {
    return ((this._bits() >>> 5) * 2 ** 26 + (this._bits() >>> 6)) / 2 ** 53;
  }

  _bits() {
    const state = this._state;
    const [a, b, c, count] = state;
    const bits = (a + b + count) >>> 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + bits;
    state[3] = count + 1;
    return bits;
  }
}
