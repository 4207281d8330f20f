// The picture of the roof: what a machine can do at most for each byte that it fetches, on logarithmic axes, and where on
// it the two kinds of work of a plain pass and of a check are.

import { fixed, grouped } from "../shared/localize.js";
import { UNTRANSLATED } from "../shared/dom.js";
import type { PublishedMachine, RooflinePayload } from "../dist/payloads.js";
import type { Round } from "./model.js";

export type Kind = keyof typeof WORK;
export type Labels = RooflinePayload["labels"];

const ACROSS = { from: 0.5, to: 10_000 }; // operations a byte
const UP = { from: 1, to: 4_000 }; // 10^12 operations a second
const MARGIN = { left: 42, right: 10, top: 24, bottom: 38 };
const TICKS = [1, 10, 100, 1000, 10_000];
const MARK = 6.5; // half the width of a mark
const WORK = { matrices: "weights", attention: "caches" } as const; // kinds of work, as a pass names them
export const KINDS = Object.keys(WORK) as Kind[];
export const PASSES = ["plain", "check"] as const;
export const HEIGHT = 300;

/** Where a number of operations a second is, a number of operations a byte, and the roof above it. `width`: of the picture */
export function scales(width: number, { teraflops, terabytes }: PublishedMachine) {
  const [right, bottom] = [width - MARGIN.right, HEIGHT - MARGIN.bottom];
  const share = (value: number, { from, to }: typeof UP) => Math.min(1, Math.max(0, Math.log(value / from) / Math.log(to / from)));
  const x = (intensity: number) => MARGIN.left + (right - MARGIN.left) * share(intensity, ACROSS);
  const y = (rate: number) => MARGIN.top + (bottom - MARGIN.top) * (1 - share(rate, UP));
  const at = (intensity: number) => ({ x: x(intensity), y: y(Math.min(teraflops, terabytes * intensity)) });
  return { right, bottom, x, y, at };
}

export function Roof({ round, width, said }: { round: Round; width: number; said: Labels }) {
  const { left } = MARGIN;
  const { right, bottom, x, y, at } = scales(width, round.machine);
  const [start, bend] = [at(ACROSS.from), at(round.corner)];
  return (
    <svg {...UNTRANSLATED} role="img" class="drawing" viewBox={`0 0 ${width} ${HEIGHT}`} aria-label={roofInWords(round, said)}>
      <path d={`M${left} ${start.y}L${bend.x} ${bend.y}V${bottom}H${left}Z`} class="ground waiting" />
      <path d={`M${bend.x} ${bend.y}H${right}V${bottom}H${bend.x}Z`} class="ground arithmetic" />
      {TICKS.filter((tick) => tick <= UP.to).map((tick) => (
        <><path d={`M${left} ${y(tick)}H${right}`} class="grid-line" /><text x={left - 6} y={y(tick) + 4} class="end">{grouped(tick)}</text></>
      ))}
      {TICKS.map((tick) => <text x={Math.min(x(tick), right - 18)} y={bottom + 15} class="">{grouped(tick)}</text>)}
      <text x={2} y={13} class="start">{said.up}</text>
      <text x={(left + right) / 2} y={bottom + 32} class="">{said.across}</text>
      <path d={`M${left} ${start.y}L${bend.x} ${bend.y}H${right}`} class="roof-line" />
      <text x={(left + bend.x) / 2} y={bottom - 8} class="region">{said.waits}</text>
      <text x={(bend.x + right) / 2} y={bottom - 8} class="region">{said.busy}</text>
      {KINDS.toReversed().map((kind) => { // from the plain pass, along the roof, to the check
        const [from, to] = [at(round.plain[WORK[kind]].intensity), at(round.check[WORK[kind]].intensity)];
        const over = from.x < bend.x && to.x > bend.x ? `L${bend.x} ${bend.y}` : "";
        return <><path d={`M${from.x} ${from.y}${over}L${to.x} ${to.y}`} class={`way ${kind}`} /><Mark kind={kind} which="plain" {...from} /><Mark kind={kind} which="check" {...to} /></>;
      })}
    </svg>
  );
}

/** Matrices are round, attention is square; a plain pass is open, a check is filled. */
export function Mark({ kind, which, x, y }: { kind: Kind; which: typeof PASSES[number]; x: number; y: number }) {
  const name = `mark ${kind} ${which}`;
  if (kind === "matrices") return <circle cx={x} cy={y} r={MARK} class={name} />;
  return <rect x={x - MARK + 1} y={y - MARK + 1} width={2 * MARK - 2} height={2 * MARK - 2} class={name} />;
}

/** The picture as a sentence, for a screen reader. */
export function roofInWords(round: Round, said: Labels) {
  const where = (intensity: number) => `${fixed(intensity, 1)}, ${intensity > round.corner ? said.busy : said.waits}`;
  const both = (kind: Kind) => PASSES.map((which) => `${said[which]} ${where(round[which][WORK[kind]].intensity)}`).join("; ");
  return `${said.roof}. ${said.across}; ${said.corner}: ${Math.round(round.corner)}. ${KINDS.map((kind) => `${said[kind]}: ${both(kind)}. `).join("")}`;
}
