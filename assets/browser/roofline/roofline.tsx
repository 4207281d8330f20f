// The lesson about latency and throughput: sliders, the verdict, the roof, three questions.
// Everything that is drawn follows from published figures and the sliders: model.ts.

import { render } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { UNTRANSLATED, applyScheme, find, prefersReducedMotion } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { fixed, grouped } from "../shared/numbers.js";
import { STOPS, figuresOf, filled, outcomeOf, roundOf, valueOf, wordOf, type Chosen, type Round } from "./model.js";
import type { LoadQuestion, PublishedMachine, RooflinePayload, RooflineView } from "../dist/payloads.js";

const GROUPS: Record<string, (keyof Chosen)[]> = { load: ["batch", "context"], model: ["machine", "model"], draft: ["alpha", "length", "cost"] };

type Control<Name extends keyof Chosen> = { name: Name; chosen: Chosen; data: RooflinePayload; choose: (some: Partial<Chosen>) => void };

/** In the other voice the sliders stay where they are. `node`: around it, which has the verdict for its look */
function Lesson({ data, node }: { data: RooflinePayload; node: HTMLElement }) {
  const { labels, questions, draft, judged, limits } = data;
  const [chosen, set] = useState<Chosen>({ ...(questions[0]?.shows[0] as RooflineView), ...draft });
  const [width, measure] = useState(0);
  const roof = useRef<HTMLElement>(null);
  const round = roundOf(chosen, data);
  const choose = (some: Partial<Chosen>) => set({ ...chosen, ...some });
  const show = (shown: RooflineView) => {
    choose({ ...shown, ...draft });
    find(node, ".outcome").scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "auto" : "smooth" });
  };
  useLayoutEffect(() => {
    const sizes = new ResizeObserver(([{ target }]) => measure(target.clientWidth));
    sizes.observe(roof.current as HTMLElement);
    return () => sizes.disconnect();
  }, []);
  useLayoutEffect(() => void (node.dataset.verdict = wordOf(round.speedup, judged)));
  return (
    <>
      <div class="outcome" role="status">{Object.entries(outcomeOf(round, data)).map(([name, text]) => <p class={name} key={name + text}>{text}</p>)}</div>
      <div class="controls">
        {Object.entries(GROUPS).map(([group, names]) => (
          <div class={`group ${group}`} role="group" aria-label={labels[group] ?? ""}>
            {names.map((name) => (name === "machine" || name === "model" ? <Menu {...{ name, chosen, data, choose }} /> : <Slider {...{ name, chosen, data, choose }} />))}
          </div>
        ))}
      </div>
      <figure class="roof" ref={roof}><figcaption class="title">{labels.roof}</figcaption>{width > 0 && <Roof {...{ round, width }} said={labels} />}
        <p class="key-line">
          {KINDS.map((kind) => <><strong class={kind}>{labels[kind]}</strong>{PASSES.map((which) => (
            <><svg {...UNTRANSLATED} width={16} height={16} viewBox="0 0 16 16" aria-hidden="true"><Mark {...{ kind, which }} x={8} y={8} /></svg><span>{labels[which]}</span></>
          ))}</>)}
        </p>
      </figure>
      <section class="asked"><h3 class="title">{labels.asked}</h3>{questions.map((question) => <Question {...{ question, data }} show={show} />)}</section>
      <p class="limits">{limits}</p>
    </>
  );
}

function Menu({ name, chosen, data: { labels, machines, models }, choose }: Control<"machine" | "model">) {
  const choices = name === "machine" ? machines.map((each) => [each.name, each.short]) : models.map((each) => [each.name, each.name]);
  return (
    <label class="line menu">
      <span class="of">{labels[name]}</span>
      <select value={chosen[name]} onChange={({ currentTarget: { value } }) => choose({ [name]: value })}>{choices.map(([words, value]) => <option value={value}>{words}</option>)}</select>
    </label>
  );
}

function Slider({ name, chosen, data: { labels }, choose }: Control<keyof typeof STOPS>) {
  const stops = STOPS[name];
  const at = stops.findIndex((stop) => stop >= chosen[name] - 1e-9);
  const words = valueOf(name, chosen[name], labels);
  return (
    <label class="line">
      <span class="of">{labels[name]}</span><span class="value" key={words}>{words}</span>{/* an <output> would take the label */}
      <input
        type="range" min={0} max={stops.length - 1} step={1} name={name} value={at} style={{ "--filled": `${(100 * at) / (stops.length - 1)}%` }}
        aria-label={labels[name] ?? "" /* without its value, which it says itself */} aria-valuetext={words}
        onInput={({ currentTarget: { value } }) => choose({ [name]: stops[Number(value)] })}
        onKeyDown={(event) => event.stopPropagation() /* arrows are the slider's own here */}
      />
    </label>
  );
}

/** A question, its answer with the figures of each setting that it shows, numbered, and a button for each. */
function Question({ question: { name, question, answer, shows }, data, show }: { question: LoadQuestion; data: RooflinePayload; show: (shown: RooflineView) => void }) {
  const own = shows.map((shown) => figuresOf(roundOf({ ...shown, ...data.draft }, data)));
  const numbered = own.flatMap((figures, i) => Object.entries(figures).map(([figure, value]) => [`${figure}_${i + 1}`, value]));
  const figures = { tokens: String(data.draft.length + 1), ...Object.fromEntries(numbered) };
  return (
    <details data-question={name}>
      <summary>{question}</summary><p class="answer">{filled(answer, figures)}</p>
      <p class="shows">{shows.map((shown, i) => <button type="button" class="show" onClick={() => show(shown)}>{filled(data.sentences.show, own[i])}</button>)}</p>
    </details>
  );
}

// ---- the picture of the roof: what a machine can do at most for each byte that it fetches, on logarithmic axes, and where on it the
// two kinds of work of a plain pass and of a check are

export type Kind = keyof typeof WORK;
export type Labels = RooflinePayload["labels"];

const ACROSS = { from: 0.5, to: 10_000 }; // operations a byte
const UP = { from: 1, to: 4_000 }; // 10^12 operations a second
const MARGIN = { left: 42, right: 10, top: 24, bottom: 38 };
const TICKS = [1, 10, 100, 1000, 10_000];
const MARK = 6.5; // half the width of a mark
const WORK = { matrices: "weights", attention: "caches" } as const; // kinds of work, as a pass names them
export const KINDS = Object.keys(WORK) as Kind[];
const PASSES = ["plain", "check"] as const;
const HEIGHT = 300;

/** Where a number of operations a second is, a number of operations a byte, and the roof above it. `width`: of the picture */
export function scales(width: number, { teraflops, terabytes }: PublishedMachine) {
  const [right, bottom] = [width - MARGIN.right, HEIGHT - MARGIN.bottom];
  const share = (value: number, { from, to }: typeof UP) => Math.min(1, Math.max(0, Math.log(value / from) / Math.log(to / from)));
  const x = (intensity: number) => MARGIN.left + (right - MARGIN.left) * share(intensity, ACROSS);
  const y = (rate: number) => MARGIN.top + (bottom - MARGIN.top) * (1 - share(rate, UP));
  const at = (intensity: number) => ({ x: x(intensity), y: y(Math.min(teraflops, terabytes * intensity)) });
  return { right, bottom, x, y, at };
}

function Roof({ round, width, said }: { round: Round; width: number; said: Labels }) {
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
function roofInWords(round: Round, said: Labels) {
  const where = (intensity: number) => `${fixed(intensity, 1)}, ${intensity > round.corner ? said.busy : said.waits}`;
  const both = (kind: Kind) => PASSES.map((which) => `${said[which]} ${where(round[which][WORK[kind]].intensity)}`).join("; ");
  return `${said.roof}. ${said.across}; ${said.corner}: ${Math.round(round.corner)}. ${KINDS.map((kind) => `${said[kind]}: ${both(kind)}. `).join("")}`;
}

export default mount<RooflinePayload>(".roofline", (root) => {
  const node = find(root, ".roofline");
  const load = ({ data }: Loaded<RooflinePayload>) => {
    applyScheme(node);
    render(<Lesson {...{ data, node }} />, node);
  };
  return { node, load, stop: () => render(null, node) };
});
