/**
 * “Take this with you”: the browser puts the live file together, page, weights and settings, and saves it. The server only
 * hands out files as they lie on its disk, and keeps nothing for a visitor.
 */

import { find } from "../shared/dom.js";
import { download } from "../shared/download.js";
import { mount, type Loaded } from "../shared/mounting.js";
import { Form } from "./form.js";
import { say } from "./words.js";

export type Parts = { page: string, weights: Record<string, [file: string, bytes: number]> }; // static files of the server
export type Taken = Parts & { link: Record<string, string> }; // with the settings on screen, as those of a link

const NAME = "specviz-live.html";
const DATA = '<script type="application/json" id="live">'; // the weights and the settings go before it
const PIECE = 750_000; // bytes of a script element, a multiple of 3: in base64 as many characters as PIECE of specviz/player/live.py

class Take {
  node;
  bar;
  data: Taken | undefined;
  busy = false;

  constructor(root: ParentNode & Node) {
    this.node = find(root, ".take");
    this.bar = find(root, "progress") as HTMLProgressElement;
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
    try {
      const { file, instead } = await made(this.data, (share) => this.#tell(share));
      download(file, NAME);
      this.#say(`${say("saved_as", { file: NAME })} ${instead && say("saved_instead", { instead })}`.trim());
    } catch {
      this.#say(say("not_loaded"));
    }
    this.bar.hidden = true;
    this.busy = false;
  }

  #tell(share: number) {
    this.bar.hidden = false;
    this.bar.value = share;
  }

  #say(words: string) {
    find(this.node, "p").textContent = words;
  }

  stop() {}
}

async function made({ page, weights, link }: Taken, tell: (share: number) => void) {
  const html = await (await loaded(page, () => {})).text();
  const at = html.indexOf(DATA);
  if (at < 0) throw new Error("no page");
  const asked = String(new URLSearchParams(link));
  const all = Object.values(weights).reduce((sum, [, bytes]) => sum + bytes, 0);
  let before = 0;
  const parts = [];
  for (const [name, [file, bytes]] of Object.entries(weights)) {
    const content = await loaded(file, (got) => tell((before + got) / all));
    if (content.size !== bytes) throw new Error("a part of the file");
    before += bytes;
    parts.push(`<div hidden id="weights-${name}">`);
    for (let at = 0; at < content.size; at += PIECE) parts.push('<script type="text/plain">', await base64(content.slice(at, at + PIECE)), "</script>");
    parts.push("</div>\n");
  }
  const settings = `<script type="application/json" id="asked">${JSON.stringify(asked).replaceAll("<", "\\u003c")}</script>\n`;
  const from = `<script type="application/json" id="from">${JSON.stringify(new URL("./", document.baseURI).href).replaceAll("<", "\\u003c")}</script>\n`;
  return { file: new Blob([html.slice(0, at), ...parts, settings, from, html.slice(at)], { type: "text/html" }), instead: insteadIn(html, asked) };
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

function base64(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1]);
    reader.onerror = reject;
    reader.readAsDataURL(content);
  });
}

export default mount(".take", (root) => new Take(root));
