// The component: one Race a mount. All lanes of all prompts follow one clock.

const RACE_KEYS = { " ": "toggle", ArrowLeft: "back", ArrowRight: "forward", Home: "restart", End: "end" };
const WANTS_KEYS = "input, textarea, select, button, a[href], summary, [role], [tabindex], [contenteditable]";

class Race {
  constructor(root) {
    this.node = root.querySelector(".race");
    this.lanes = [];
    this.clock = new RaceClock(() => this.show(), () => this.#report());
    this.scrubber = this.node.querySelector(".scrubber");
    this.speed = this.node.querySelector(".speed");
    this.node.querySelector(".play").addEventListener("click", () => this.clock.toggle());
    this.node.querySelector(".restart").addEventListener("click", () => this.clock.restart());
    this.scrubber.addEventListener("input", () => this.clock.seek((this.scrubber.value / 1000) * this.clock.end));
    this.scrubber.addEventListener("change", () => this.#report());
    this.speed.addEventListener("change", () => (this.clock.slower = Number(this.speed.value)));
    this.onKey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onKey);
  }

  /** Called by Streamlit for every change of data or theme. */
  load({ data, setStateValue }) {
    this.setStateValue = setStateValue;
    this.#dress();
    if (data.run_id === this.data?.run_id) return;
    this.data = data;
    const badge = this.node.querySelector(".badge");
    badge.textContent = badge.title = data.badge;
    this.node.dataset.run = data.run_id;
    this.speed.replaceChildren(...data.choices.map((factor) => speedOption(factor, data.slower)));
    this.#build();
    this.clock.load(data);
  }

  #build() {
    this.lanes = [];
    const laps = this.data.laps.map((lap) => {
      const node = element("article", "lap");
      const head = element("h3", "lap-head");
      head.append(element("b", "", lap.name), " ", element("bdi", "", lap.prompt));
      const lanes = lap.lanes.map((lane) => new Lane(lane));
      this.lanes.push(...lanes);
      node.append(head, ...lanes.map((lane) => lane.node), element("p", "spoken", inWords(lap)));
      return node;
    });
    this.node.querySelector(".laps").replaceChildren(...laps);
  }

  show() {
    if (!this.data) return;
    const { at, end, playing, finished, slower } = this.clock;
    for (const lane of this.lanes) lane.show(at);
    const share = end ? at / end : 0;
    this.scrubber.value = Math.round(1000 * share);
    this.scrubber.style.setProperty("--filled", `${100 * share}%`);
    this.scrubber.setAttribute("aria-valuetext", `${seconds(at)} of ${seconds(end)}`);
    this.node.querySelector(".clock").textContent = `${seconds(at)} of ${seconds(end)}`;
    this.node.toggleAttribute("data-done", finished);
    this.#showState(playing, finished, slower);
  }

  #showState(playing, finished, slower) {
    const state = `${playing} ${finished}`;
    if (state === this.state) return;
    this.state = state;
    const play = this.node.querySelector(".play");
    play.classList.toggle("playing", playing);
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
    const results = this.data.laps.map((lap) => `${lap.name}: ${lap.result}`).join(" · ");
    this.node.querySelector(".sentence").textContent = finished ? results : "";
    const spoken = finished ? `The race is over. ${results}` : playing ? `Playing, ${slower} times slower.` : "Paused.";
    this.node.querySelector(".spoken[role=status]").textContent = spoken;
  }

  /** Light or dark, by the ground Streamlit gives. */
  #dress() {
    const [r, g, b] = (getComputedStyle(this.node).backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
    this.node.dataset.scheme = 0.2126 * r + 0.7152 * g + 0.0722 * b < 110 ? "dark" : "light";
  }

  /** Keys reach the clock from inside, or from a page on which nothing that uses keys has the focus. */
  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const move = RACE_KEYS[event.key];
    const target = event.composedPath()[0];
    if (!move || !this.#listens(target, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const { clock } = this;
    const moves = {
      toggle: () => clock.toggle(),
      back: () => clock.nudge(-1),
      forward: () => clock.nudge(1),
      restart: () => clock.restart(),
      end: () => (clock.seek(clock.end), this.#report()),
    };
    moves[move]();
  }

  #listens(target, key) {
    if (!(target instanceof Element)) return true;
    if (this.node.contains(target)) return !target.closest("select") && !(key === " " && target.closest("button"));
    const idle = target.matches("body, html, [data-testid=stMain], [data-testid=stApp]");
    const box = this.node.getBoundingClientRect();
    return (idle || !target.closest(WANTS_KEYS)) && box.bottom > 80 && box.top < innerHeight - 80;
  }

  /** Tell the server where the visitor stopped: a rerun, so only when they did and only if it is news. */
  #report() {
    clearTimeout(this.reporting);
    this.reporting = setTimeout(() => {
      const place = Math.round(this.clock.at * 1000) / 1000;
      if (this.clock.playing || place === this.reported) return;
      this.reported = place;
      this.setStateValue("place", place);
    }, 350);
  }

  stop() {
    clearTimeout(this.reporting);
    this.clock.stop();
    document.removeEventListener("keydown", this.onKey);
  }
}

function speedOption(factor, chosen) {
  const option = element("option", "", factor === 1 ? "as it was" : `1/${factor} speed`);
  option.value = factor;
  option.selected = factor === chosen;
  return option;
}

/** A lap for a screen reader. */
function inWords(lap) {
  const lanes = lap.lanes.map((lane) => `${lane.name} wrote ${lane.tokens} tokens in ${seconds(lane.end)}, ${lane.steps.length} steps`);
  return `${lanes.join("; ")}. ${lap.result}.`;
}

const RACES = new WeakMap();

export default function (component) {
  const root = component.parentElement;
  const node = root.querySelector(".race");
  let race = RACES.get(root);
  if (race?.node !== node) {
    race?.stop();
    race = new Race(root);
    RACES.set(root, race);
  }
  if (component.data) race.load(component);
  // Streamlit may also call this for an overtaken update of a component that stays: then there is nothing to end.
  return () => {
    if (root.isConnected && node.isConnected) return;
    race.stop();
    RACES.delete(root);
  };
}
