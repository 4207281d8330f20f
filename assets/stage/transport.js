// Buttons, scrubber, speed, keys and the link: what a visitor does to the playhead.

const KEYS = {
  " ": "toggle",
  ArrowLeft: "back",
  ArrowRight: "forward",
  "shift+ArrowLeft": "roundBack",
  "shift+ArrowRight": "roundForward",
  Home: "first",
  End: "last",
};
const EDITABLE = "input:not([type=range]), textarea, select, [contenteditable]:not([contenteditable=false])";
const TAKES_KEYS = `${EDITABLE}, input, button, a[href], summary, [role], [tabindex]`;

class Transport {
  constructor(stage, playhead) {
    this.stage = stage;
    this.playhead = playhead;
    this.scrubber = stage.querySelector(".scrubber");
    this.play = stage.querySelector(".play");
    this.link = {};
    stage.querySelector(".buttons").addEventListener("click", (event) => this.#press(event));
    stage.querySelector(".speed").addEventListener("change", (event) => playhead.setSpeed(Number(event.target.value)));
    this.scrubber.addEventListener("input", () => playhead.seek(Number(this.scrubber.value)));
    this.scrubber.addEventListener("change", () => playhead.rested());
    stage.querySelector(".copy-link").addEventListener("click", () => this.#copy());
    stage.querySelector(".copy-field").addEventListener("blur", (event) => (event.target.hidden = true));
    this.onKey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onKey);
  }

  stop() {
    document.removeEventListener("keydown", this.onKey);
  }

  show() {
    const { step, last, playing, round, phase } = this.playhead;
    this.scrubber.max = Math.max(last, 0);
    this.scrubber.value = Math.max(step, 0);
    this.scrubber.disabled = last < 0;
    this.scrubber.style.setProperty("--filled", `${last > 0 ? (100 * Math.max(step, 0)) / last : 0}%`);
    this.scrubber.setAttribute("aria-valuetext", step < 0 ? "not started" : `round ${round + 1}, ${phase}`);
    if (this.shownPlaying === playing) return;
    this.shownPlaying = playing;
    this.play.classList.toggle("playing", playing);
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  #press(event) {
    const button = event.target.closest("button");
    if (button) this.playhead.move(button.dataset.move);
  }

  /** Keys reach the playhead from inside the stage, or from a page on which nothing that uses keys has the focus. */
  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    const move = KEYS[(event.shiftKey ? "shift+" : "") + event.key];
    if (!move || !this.#listens(target, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.playhead.move(move);
  }

  #listens(target, key) {
    if (!(target instanceof Element)) return true;
    if (this.stage.contains(target)) return !target.closest(EDITABLE) && !(key === " " && target.closest("button"));
    const idle = target.matches("body, html, [data-testid=stMain], [data-testid=stApp]");
    return (idle || !target.closest(TAKES_KEYS)) && this.#inSight();
  }

  #inSight() {
    const box = this.stage.getBoundingClientRect();
    return box.bottom > 80 && box.top < innerHeight - 80;
  }

  async #copy() {
    const address = this.#address();
    const button = this.stage.querySelector(".copy-link");
    const field = this.stage.querySelector(".copy-field");
    try {
      await navigator.clipboard.writeText(address);
      field.hidden = true;
      button.textContent = "Link copied";
      setTimeout(() => (button.textContent = "Copy link"), 2500);
    } catch {
      field.hidden = false; // no clipboard here (plain http, or refused): let them copy it by hand
      field.value = address;
      field.focus();
      field.select();
    }
  }

  #address() {
    const query = new URLSearchParams(this.link);
    query.set("step", Math.max(this.playhead.step, 0));
    return `${location.origin}${location.pathname}?${query}`;
  }
}
