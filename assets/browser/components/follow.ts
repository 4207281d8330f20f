// A component without a look: the projected page and the notes of one browser tell each other the moment they went to.

import { mount, type Loaded } from "../shared/mounting.js";

export type Place = { role: "screen" | "notes", lesson: string, moment: number, moves: number };
export type Said = Place & { asks: boolean }; // notes that were just opened ask where the lesson is

const BUTTONS = ".st-key-lesson_bar button";

class Follower {
  node;
  place: Place | null = null;
  go: (moment: number) => void = () => {};
  channel = new BroadcastChannel("specviz-lesson");
  ending = new AbortController();

  constructor(root: ParentNode & Node) {
    this.node = root.querySelector(".lesson-follow") as HTMLElement;
    this.channel.onmessage = ({ data }) => this.#hear(data);
    document.addEventListener("click", ({ target, detail }) => { // a button of the bar that was clicked, not reached by keyboard, gives the focus back: the next space plays the run
      const button = detail > 0 && target instanceof Element ? target.closest(BUTTONS) : null;
      if (button instanceof HTMLElement) button.blur();
    }, this.ending); // one of its own: another mount may end
  }

  load({ data, setTriggerValue }: Loaded<Place>) {
    const before = this.place;
    this.place = data;
    this.go = (moment) => setTriggerValue("moment", moment);
    if (before && data.moves === before.moves) return;
    this.channel.postMessage({ ...data, asks: !before && data.role === "notes" }); // a screen just opened leads
  }

  /** `said`: by any window of this site */
  #hear(said: Partial<Said> | null) {
    const { place } = this;
    if (!place || !said || said.role === place.role || said.lesson !== place.lesson) return;
    if (said.asks) this.channel.postMessage({ ...place, asks: false });
    else if (typeof said.moment === "number" && said.moment !== place.moment) this.go(said.moment);
  }

  stop() {
    this.channel.close();
    this.ending.abort();
  }
}

export default mount(".lesson-follow", (root) => new Follower(root));
