// The arithmetic of a forward pass, in AssemblyScript: 128-bit vectors, weights in bfloat16 as the files have them, sums
// in float32. llama.js calls it. `npm run kernel` compiles it into kernel_bytes.js, once with the fused multiply-add of
// relaxed SIMD and once without. Every argument that is an address counts bytes; every other one counts numbers.
//
// Each sum is added in the same order however many tokens are read at once, so checking gives the same bits as writing.

const FLOAT: usize = 4; // bytes
const HALF: usize = 2; // bytes of a bfloat16

// @ts-ignore: decorator
@inline function fused(a: v128, b: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, sum);
  return f32x4.add(sum, f32x4.mul(a, b));
}

// @ts-ignore: decorator
@inline function total(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3));
}

// A bfloat16 is the upper half of a float32.
// @ts-ignore: decorator
@inline function half(address: usize): f32 {
  return reinterpret<f32>(<u32>load<u16>(address) << 16);
}

// Of eight weights, those with even numbers, and those with odd ones: two steps for eight numbers.
// @ts-ignore: decorator
@inline function even(v: v128): v128 {
  return i32x4.shl(v, 16);
}

// @ts-ignore: decorator
@inline function odd(v: v128): v128 {
  return v128.and(v, i32x4.splat(0xffff0000));
}

/** One row of a table of bfloat16 as float32. */
export function embed(row: usize, out: usize, width: i32): void {
  for (let i = 0; i < width; i++) f32.store(out + <usize>i * FLOAT, half(row + <usize>i * HALF));
}

/** out += x */
export function add(x: usize, out: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count * FLOAT; i += 16) v128.store(out + i, f32x4.add(v128.load(out + i), v128.load(x + i)));
}

/** Divide each row by its root mean square, and multiply by the weight (Zhang and Sennrich 2019). */
export function norm(x: usize, weight: usize, out: usize, count: i32, width: i32, eps: f32): void {
  for (let row = 0; row < count; row++) {
    let squares = f32x4.splat(0);
    for (let i: usize = 0; i < <usize>width * FLOAT; i += 16) {
      const v = v128.load(x + i);
      squares = fused(v, v, squares);
    }
    const scale: f32 = 1 / Mathf.sqrt(total(squares) / <f32>width + eps);
    for (let i = 0; i < width; i++) {
      const at = <usize>i * FLOAT;
      f32.store(out + at, f32.load(x + at) * scale * half(weight + <usize>i * HALF));
    }
    x += <usize>width * FLOAT;
    out += <usize>width * FLOAT;
  }
}

/**
 * out = x · weightᵀ, for a matrix of `outs` rows with `ins` bfloat16 each; both are multiples of eight.
 * `sorted` has room for x: of each eight numbers first the even ones, then the odd ones, as the weights are unpacked.
 */
export function linear(x: usize, sorted: usize, weight: usize, out: usize, count: i32, outs: i32, ins: i32): void {
  sort(x, sorted, <usize>(count * ins) * FLOAT);
  const next = <usize>ins * HALF;
  for (let row = 0; row < outs; row += 8) {
    let token = 0;
    const to = out + <usize>row * FLOAT;
    for (; token + 5 <= count; token += 5) {
      for (let pair: usize = 0; pair < 8; pair += 2) {
        five(sorted + <usize>(token * ins) * FLOAT, weight + pair * next, to + (<usize>(token * outs) + pair) * FLOAT, outs, ins);
      }
    }
    for (; token + 2 <= count; token += 2) {
      for (let four: usize = 0; four < 8; four += 4) {
        two(sorted + <usize>(token * ins) * FLOAT, weight + four * next, to + (<usize>(token * outs) + four) * FLOAT, outs, ins);
      }
    }
    if (token < count) one(sorted + <usize>(token * ins) * FLOAT, weight, to + <usize>(token * outs) * FLOAT, ins);
    weight += 8 * next;
  }
}

function sort(x: usize, sorted: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 32) {
    const a = v128.load(x + i), b = v128.load(x + i, 16);
    v128.store(sorted + i, v128.shuffle<f32>(a, b, 0, 2, 4, 6));
    v128.store(sorted + i, v128.shuffle<f32>(a, b, 1, 3, 5, 7), 16);
  }
}

// One token and eight rows of weights.
function one(x: usize, w: usize, out: usize, ins: i32): void {
  const zero = f32x4.splat(0);
  let s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero, s7 = zero;
  const n = <usize>ins * HALF;
  for (const end = w + n; w < end; w += 16, x += 32) {
    const a = v128.load(x), b = v128.load(x, 16);
    let v = v128.load(w);
    s0 = fused(odd(v), b, fused(even(v), a, s0));
    v = v128.load(w + n);
    s1 = fused(odd(v), b, fused(even(v), a, s1));
    v = v128.load(w + 2 * n);
    s2 = fused(odd(v), b, fused(even(v), a, s2));
    v = v128.load(w + 3 * n);
    s3 = fused(odd(v), b, fused(even(v), a, s3));
    v = v128.load(w + 4 * n);
    s4 = fused(odd(v), b, fused(even(v), a, s4));
    v = v128.load(w + 5 * n);
    s5 = fused(odd(v), b, fused(even(v), a, s5));
    v = v128.load(w + 6 * n);
    s6 = fused(odd(v), b, fused(even(v), a, s6));
    v = v128.load(w + 7 * n);
    s7 = fused(odd(v), b, fused(even(v), a, s7));
  }
  f32.store(out, total(s0));
  f32.store(out, total(s1), 4);
  f32.store(out, total(s2), 8);
  f32.store(out, total(s3), 12);
  f32.store(out, total(s4), 16);
  f32.store(out, total(s5), 20);
  f32.store(out, total(s6), 24);
  f32.store(out, total(s7), 28);
}

// Two tokens and four rows.
function two(x: usize, w: usize, out: usize, outs: i32, ins: i32): void {
  const zero = f32x4.splat(0);
  let s0 = zero, s1 = zero, s2 = zero, s3 = zero, t0 = zero, t1 = zero, t2 = zero, t3 = zero;
  const n = <usize>ins * HALF, next = <usize>ins * FLOAT;
  for (const end = w + n; w < end; w += 16, x += 32) {
    const a = v128.load(x), b = v128.load(x, 16), c = v128.load(x + next), d = v128.load(x + next, 16);
    let v = v128.load(w), e = even(v), o = odd(v);
    s0 = fused(o, b, fused(e, a, s0));
    t0 = fused(o, d, fused(e, c, t0));
    v = v128.load(w + n), e = even(v), o = odd(v);
    s1 = fused(o, b, fused(e, a, s1));
    t1 = fused(o, d, fused(e, c, t1));
    v = v128.load(w + 2 * n), e = even(v), o = odd(v);
    s2 = fused(o, b, fused(e, a, s2));
    t2 = fused(o, d, fused(e, c, t2));
    v = v128.load(w + 3 * n), e = even(v), o = odd(v);
    s3 = fused(o, b, fused(e, a, s3));
    t3 = fused(o, d, fused(e, c, t3));
  }
  f32.store(out, total(s0));
  f32.store(out, total(s1), 4);
  f32.store(out, total(s2), 8);
  f32.store(out, total(s3), 12);
  out += <usize>outs * FLOAT;
  f32.store(out, total(t0));
  f32.store(out, total(t1), 4);
  f32.store(out, total(t2), 8);
  f32.store(out, total(t3), 12);
}

// Five tokens and two rows: as many sums as fit into the registers.
function five(x: usize, w: usize, out: usize, outs: i32, ins: i32): void {
  const zero = f32x4.splat(0);
  let s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, t0 = zero, t1 = zero, t2 = zero, t3 = zero, t4 = zero;
  const n = <usize>ins * HALF, next = <usize>ins * FLOAT;
  for (const end = w + n; w < end; w += 16, x += 32) {
    const v = v128.load(w), u = v128.load(w + n);
    const e = even(v), o = odd(v), f = even(u), p = odd(u);
    let a = v128.load(x), b = v128.load(x, 16);
    s0 = fused(o, b, fused(e, a, s0));
    t0 = fused(p, b, fused(f, a, t0));
    a = v128.load(x + next), b = v128.load(x + next, 16);
    s1 = fused(o, b, fused(e, a, s1));
    t1 = fused(p, b, fused(f, a, t1));
    a = v128.load(x + 2 * next), b = v128.load(x + 2 * next, 16);
    s2 = fused(o, b, fused(e, a, s2));
    t2 = fused(p, b, fused(f, a, t2));
    a = v128.load(x + 3 * next), b = v128.load(x + 3 * next, 16);
    s3 = fused(o, b, fused(e, a, s3));
    t3 = fused(p, b, fused(f, a, t3));
    a = v128.load(x + 4 * next), b = v128.load(x + 4 * next, 16);
    s4 = fused(o, b, fused(e, a, s4));
    t4 = fused(p, b, fused(f, a, t4));
  }
  const down = <usize>outs * FLOAT;
  f32.store(out, total(s0));
  f32.store(out, total(t0), 4);
  f32.store(out + down, total(s1));
  f32.store(out + down, total(t1), 4);
  f32.store(out + 2 * down, total(s2));
  f32.store(out + 2 * down, total(t2), 4);
  f32.store(out + 3 * down, total(s3));
  f32.store(out + 3 * down, total(t3), 4);
  f32.store(out + 4 * down, total(s4));
  f32.store(out + 4 * down, total(t4), 4);
}

/** Turn each pair of numbers (i, i + size / 2) of a head by its place's angle (Su et al. 2021). `cos` and `sin` are those of the first row. */
export function rotate(x: usize, cos: usize, sin: usize, count: i32, heads: i32, size: i32): void {
  const middle = <usize>(size / 2) * FLOAT;
  for (let row = 0; row < count; row++) {
    for (let head = 0; head < heads; head++) {
      for (let i: usize = 0; i < middle; i += 16) {
        const a = v128.load(x + i), b = v128.load(x + middle + i), c = v128.load(cos + i), s = v128.load(sin + i);
        v128.store(x + i, f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)));
        v128.store(x + middle + i, f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)));
      }
      x += 2 * middle;
    }
    cos += middle;
    sin += middle;
  }
}

/**
 * Each token's queries ask the keys of all it may see, and take their values in proportion. The last `count` of the keys
 * and values are the tokens' own; `past` are before them. A place has `kvHeads` heads; `shares` has room for its weights.
 */
export function attention(
  queries: usize, keys: usize, values: usize, shares: usize, out: usize,
  count: i32, past: i32, heads: i32, kvHeads: i32, size: i32,
): void {
  const head = <usize>size * FLOAT, place = <usize>kvHeads * head;
  const scale: f32 = 1 / Mathf.sqrt(<f32>size);
  for (let row = 0; row < count; row++) {
    for (let h = 0; h < heads; h++) {
      const shared = <usize>(h / (heads / kvHeads)) * head;
      const seen = past + row + 1;
      ask(queries, keys + shared, shares, seen, place, head, scale);
      softmax(shares, seen);
      take(values + shared, shares, out, seen, place, head);
      queries += head;
      out += head;
    }
  }
}

function ask(query: usize, key: usize, scores: usize, seen: i32, place: usize, head: usize, scale: f32): void {
  for (let i = 0; i < seen; i++) {
    let sum = f32x4.splat(0), other = sum;
    for (let j: usize = 0; j < head; j += 32) {
      sum = fused(v128.load(query + j), v128.load(key + j), sum);
      other = fused(v128.load(query + j, 16), v128.load(key + j, 16), other);
    }
    f32.store(scores + <usize>i * FLOAT, total(f32x4.add(sum, other)) * scale);
    key += place;
  }
}

function softmax(scores: usize, count: i32): void {
  let highest = f32.load(scores);
  for (let i = 1; i < count; i++) highest = max(highest, f32.load(scores + <usize>i * FLOAT));
  let sum: f32 = 0;
  for (let i = 0; i < count; i++) {
    const at = scores + <usize>i * FLOAT, each = Mathf.exp(f32.load(at) - highest);
    sum += each;
    f32.store(at, each);
  }
  for (let i = 0; i < count; i++) {
    const at = scores + <usize>i * FLOAT;
    f32.store(at, f32.load(at) / sum);
  }
}

function take(value: usize, shares: usize, out: usize, seen: i32, place: usize, head: usize): void {
  for (let j: usize = 0; j < head; j += 16) v128.store(out + j, f32x4.splat(0));
  for (let i = 0; i < seen; i++) {
    const share = f32x4.splat(f32.load(shares + <usize>i * FLOAT));
    for (let j: usize = 0; j < head; j += 16) v128.store(out + j, fused(share, v128.load(value + j), v128.load(out + j)));
    value += place;
  }
}

/** gate = silu(gate) · up (Shazeer 2020) */
export function gated(gate: usize, up: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count * FLOAT; i += FLOAT) {
    const z = f32.load(gate + i);
    f32.store(gate + i, (z / (1 + Mathf.exp(-z))) * f32.load(up + i));
  }
}
