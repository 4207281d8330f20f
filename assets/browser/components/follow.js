// A component without a look: the projected page and the notes of one browser tell each other the moment they went to.

import { mount } from "../shared/mounting.js";

/** @import { Loaded } from "../shared/mounting.js" */

/** @typedef {{ role: "screen" | "notes", lesson: string, moment: number, moves: number }} Place */
/** @typedef {Place & { asks: boolean }} Said notes that were just opened ask where the lesson is */

const BUTTONS = ".st-key-lesson_bar button";

class Follower {
  /** @param {ParentNode & Node} root */
  constructor(root) {
    this.node = /** @type {HTMLElement} */ (root.querySelector(".lesson-follow"));
    /** @type {Place | null} */
    this.place = null;
    /** @type {(moment: number) => void} */
    this.go = () => {};
    this.channel = new BroadcastChannel("specviz-lesson");
    this.channel.onmessage = ({ data }) => this.#hear(data);
    document.addEventListener("click", leaveFocus);
  }

  /** @param {Loaded<Place>} component */
  load({ data, setTriggerValue }) {
    const before = this.place;
    this.place = data;
    this.go = (moment) => setTriggerValue("moment", moment);
    if (before && data.moves === before.moves) return;
    this.channel.postMessage({ ...data, asks: !before && data.role === "notes" }); // a screen just opened leads
  }

  /** @param {Partial<Said> | null} said by any window of this site */
  #hear(said) {
    const { place } = this;
    if (!place || !said || said.role === place.role || said.lesson !== place.lesson) return;
    if (said.asks) this.channel.postMessage({ ...place, asks: false });
    else if (typeof said.moment === "number" && said.moment !== place.moment) this.go(said.moment);
  }

  stop() {
    this.channel.close();
    document.removeEventListener("click", leaveFocus);
  }
}

/**
 * A button of the bar that was clicked, not reached by keyboard, gives the focus back: the next space plays the run.
 * @param {MouseEvent} event
 */
function leaveFocus({ target, detail }) {
  const button = detail > 0 && target instanceof Element ? target.closest(BUTTONS) : null;
  if (button instanceof HTMLElement) button.blur();
}

export default mount(".lesson-follow", (root) => new Follower(root));
