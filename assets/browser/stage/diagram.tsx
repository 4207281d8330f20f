// A lesson's picture. It follows the playhead, and is drawn only where `data.diagram` is set. The lesson also marks the part of
// the stage that it is about, and moves the playhead to its place.

import { render, type ComponentType } from "preact";
import { find } from "../shared/dom.js";
import { Alone } from "./alone.js";
import { Dice } from "./dice.js";
import { Lossless } from "./lossless.js";
import { Pass } from "./pass.js";
import { speak } from "./plain_words.js";
import { Stops } from "./stops.js";
import { Way } from "./way.js";
import { Texts, Weights } from "./weights.js";
import { voiceOf, type Voice } from "./words.js";
import type { DiagramPayload, Phase, StagePayload } from "../dist/payloads.js";
import type { Playhead } from "./playhead.js";

export type Pictured = { data: StagePayload, lesson: DiagramPayload, at: number, phase: Phase, said: Voice }; // at: the round

const PICTURES: Record<Exclude<DiagramPayload["picture"], "lossless">, ComponentType<Pictured>> = { way: Way, alone: Alone, pass: Pass, dice: Dice, weights: Weights, texts: Texts, stops: Stops };

export class Diagram {
  box = find(this.stage, ".diagram");
  data: StagePayload | null = null;
  place: string | null = null;

  constructor(public stage: HTMLElement, public playhead: Playhead) {}

  load(data: StagePayload) {
    const { diagram: lesson } = this.data = data;
    this.stage.classList.toggle("lesson", Boolean(lesson));
    this.box.hidden = !lesson;
    speak(this.stage, data);
    if (lesson) Object.assign(this.stage.dataset, { focus: lesson.focus, picture: lesson.picture });
    else for (const name of ["focus", "picture"]) delete this.stage.dataset[name];
  }

  /** Once the playhead knows the run: to the lesson's place, when that is a new one. */
  settle() {
    const lesson = this.data?.diagram;
    if (!lesson || this.place === lesson.place) return;
    this.place = lesson.place;
    this.playhead.seek(lesson.step);
  }

  show() {
    const { data, playhead } = this;
    if (!data?.diagram) return;
    const { picture, words, rule } = data.diagram;
    if (rule) return render(<Lossless recorded={rule} words={words} key={words} />, this.box); // what the visitor did to q stays while its lesson and its words stay
    const Picture = PICTURES[picture === "lossless" ? "way" : picture];
    const [at, phase] = [Math.max(playhead.round, 0), playhead.phase ?? "propose"];
    render(<div class={`picture ${picture}`} data-phase={phase} translate={false}><Picture {...{ data, at, phase }} lesson={data.diagram} said={voiceOf(words)} /></div>, this.box);
  }
}
