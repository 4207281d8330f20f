/**
 * “Take this with you”: the browser puts the settings into the live file, and saves it. The server only hands out a file as
 * it lies on its disk, and keeps nothing for a visitor.
 */

import { find, download } from "../shared/dom.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { Form } from "./form.js";
import { say } from "./words.js";

export type Taken = { file: string, bytes: number, weights: number, link: Record<string, string> }; // a static file of the server, and where in it the weights begin; the settings on screen, as those of a link

const NAME = "specviz-live.html";

class Take {
  node = find(this.root, ".take");
  data: Taken | undefined;
  busy = false;

  constructor(public root: ParentNode & Node) {
    find(root, "button").addEventListener("click", () => void this.#press());
  }

  load({ data }: Loaded<Taken>) {
    const { link } = data;
    if (this.data && JSON.stringify(link) !== JSON.stringify(this.data.link) && !this.busy) this.#say("");
    this.data = data;
  }

  async #press() {
    if (this.busy || !this.data) return;
    this.busy = true;
    this.#say(say("preparing"));
    const bar: HTMLProgressElement = find(this.node, "progress");
    try {
      const { taken, instead } = await made(this.data, (share) => Object.assign(bar, { hidden: false, value: share }));
      download(taken, NAME);
      this.#say(`${say("saved_as", { file: NAME })} ${instead && say("saved_instead", { instead })}`.trim());
    } catch {
      this.#say(say("not_loaded"));
    }
    bar.hidden = true;
    this.busy = false;
  }

  #say(words: string) {
    find(this.node, "p").textContent = words;
  }

  stop() {}
}

async function made({ file, bytes, weights, link }: Taken, tell: (share: number) => void) {
  const whole = await loaded(file, (got) => tell(got / bytes));
  if (whole.size !== bytes) throw new Error("a part of the file");
  const [page, asked] = [whole.slice(0, weights), String(new URLSearchParams(link))];
  const given = { asked, from: new URL("./", document.baseURI).href };
  const scripts = Object.entries(given).map(([id, text]) => `<script type="application/json" id="${id}">${JSON.stringify(text).replaceAll("<", "\\u003c")}</script>\n`);
  return { taken: new Blob([page, ...scripts, whole.slice(weights)], { type: "text/html" }), instead: insteadIn(await page.text(), asked) };
}

/** What the file uses where it does not have what is on screen: its own controls say it. */
function insteadIn(html: string, asked: string) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const data = JSON.parse(find(page, "#live").textContent ?? "");
  const form = new Form((find(page, "form.asked") as HTMLFormElement), data, () => {});
  form.open(asked);
  return form.instead;
}

/** A static file. Asked for by its bytes: else the server compresses it again for each visitor. */
async function loaded(file: string, tell: (bytes: number) => void) {
  const answer = await fetch(new URL(`app/static/${file}`, document.baseURI), { headers: { Range: "bytes=0-" } });
  if (!answer.ok || !answer.body) throw new Error(String(answer.status));
  const reader = answer.body.getReader();
  const chunks = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(chunks);
    chunks.push(value);
    tell((bytes += value.length));
  }
}

export default mount(".take", (root) => new Take(root));
