// The lesson about latency and throughput: sliders, the verdict, the roof, three questions.
// Everything that is drawn follows from published figures and the sliders: model.ts.

import { render, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { find, prefersReducedMotion, UNTRANSLATED, applyScheme } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { STOPS, roundOf, type Chosen, figuresOf, filled, outcomeOf, valueOf, wordOf } from "./model.js";
import { KINDS, Mark, PASSES, Roof, type Labels } from "./roof.js";
import type { LoadQuestion, RooflinePayload, RooflineView } from "../dist/payloads.js";

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
      <figure class="roof" ref={roof}><figcaption class="title">{labels.roof}</figcaption>{width > 0 && <Roof {...{ round, width }} said={labels} />}<Key labels={labels} /></figure>
      <section class="asked"><h3 class="title">{labels.asked}</h3>{questions.map((question) => <Question {...{ question, data }} show={(shown) => show(node, () => choose({ ...shown, ...draft }))} />)}</section>
      <p class="limits">{limits}</p>
    </>
  );
}

function show(node: HTMLElement, change: () => void) {
  change();
  find(node, ".outcome").scrollIntoView({ block: "nearest", behavior: prefersReducedMotion() ? "auto" : "smooth" });
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

/** What the marks in the roof mean. */
function Key({ labels }: { labels: Labels }) {
  const marks = (kind: (typeof KINDS)[number]): ComponentChildren => PASSES.map((which) => (
    <><svg {...UNTRANSLATED} width={16} height={16} viewBox="0 0 16 16" aria-hidden="true"><Mark {...{ kind, which }} x={8} y={8} /></svg><span>{labels[which]}</span></>
  ));
  return <p class="key-line">{KINDS.map((kind) => <><strong class={kind}>{labels[kind]}</strong>{marks(kind)}</>)}</p>;
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

class RooflineComponent {
  node = find(this.root, ".roofline");

  constructor(public root: ParentNode) {}

  /** Called by Streamlit for every change of data or theme. */
  load({ data }: Loaded<RooflinePayload>) {
    applyScheme(this.node);
    render(<Lesson {...{ data }} node={this.node} />, this.node);
  }

  stop() {
    render(null, this.node);
  }
}

export default mount(".roofline", (root) => new RooflineComponent(root));
