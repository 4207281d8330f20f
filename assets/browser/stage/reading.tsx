// The run in sentences, in a dialog: to read, to hear, to copy. It is written when it is opened, and does not change while it is
// read.

import { render } from "preact";
import { copied } from "../shared/clipboard.js";
import { find } from "../shared/dom.js";
import { Said } from "../shared/said.js";
import { asText, type Account } from "./account.js";
import { say } from "./words.js";

export class Reading {
  dialog: HTMLDialogElement;
  body;
  news;
  field: HTMLTextAreaElement;
  text = "";

  constructor(stage: HTMLElement, public account: () => Account | null) {
    this.dialog = find(stage, ".account");
    this.body = find(this.dialog, ".sentences");
    this.news = find(this.dialog, "[role=status]");
    this.field = find(this.dialog, "textarea");
    find(this.dialog, "[value=copy]").addEventListener("click", () => void this.#copy());
    find(this.dialog, "[value=close]").addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation()); // its keys are not the stage's
  }

  open() {
    const account = this.account();
    if (!account) return;
    this.text = asText(account);
    this.news.textContent = "";
    this.field.hidden = true;
    render(null, this.body); // anew: a browser may have translated what is there
    const paragraphs = (texts: string[]) => texts.map((each) => <p><Said text={each} /></p>);
    const rounds = account.rounds.map((each) => <li><Said text={each} /></li>);
    render(<>{paragraphs(account.before)}<ul role="list">{rounds}</ul>{paragraphs(account.after)}</>, this.body); // some browsers call a list without marks none
    this.dialog.showModal();
    this.body.focus(); // at its beginning, and the arrow keys scroll it
  }

  async #copy() {
    this.news.textContent = say((await copied(this.text, this.field)) ? "copied" : "copy_by_hand");
  }
}
