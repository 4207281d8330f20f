// The menu “Save…”: the step in sight as a slide, the run as a film, the run in sentences. The browser makes each file itself.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copied, download, fileName } from "../shared/dom.js";
import { Said } from "../shared/chips.js";
import { fileOf, filmKind, lengthOf, recorded, type Film, runFilm, runSlide, type Shown } from "./slide.js";
import { accountOf, asText, type Account } from "./account.js";
import SLIDE from "../../texts/browser/slide.json" with { type: "json" };
import { sayer } from "../shared/fill.js";
import { say } from "./words.js";
import type { Playhead } from "./playhead.js";

const sayOfSlides = sayer(SLIDE);

/** `shown`: what is played here; null: nothing yet */
export function Save({ shown, at }: { shown: () => Shown | null; at: Playhead }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [film, record] = useState<Film | null>(null);
  const [account, read] = useState<Account | null>(null);
  const opener = () => menu.current?.querySelector("summary")?.focus();
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  const press = (act: (run: Shown) => void = () => {}) => () => {
    close();
    opener(); // first: a dialog gives the focus back to where it was
    const run = shown();
    if (run) act(run);
  };
  const save = async (run: Shown, kind: "png" | "svg") => {
    const name = say("file_of_round", { round: at.round + 1 });
    download(await fileOf(runSlide(run, at.step), kind), `${fileName(name)}.${kind}`);
  };
  useLayoutEffect(() => {
    const ending = new AbortController();
    document.addEventListener("pointerdown", (event) => menu.current && !event.composedPath().includes(menu.current) && close(), ending);
    return () => ending.abort();
  }, []);
  return (
    <>
      <details
        class="save" ref={menu} onKeyDown={({ key }) => key === "Escape" && press()()}
        onFocusOut={({ relatedTarget }) => relatedTarget instanceof Node && !menu.current?.contains(relatedTarget) && close()}
      >
        <summary>{say("save")}</summary>
        <ul>
          <li>{say("save_step")} {(["png", "svg"] as const).map((kind) => <button type="button" aria-label={say(`save_step_${kind}`)} onClick={press((run) => void save(run, kind))}>{kind.toUpperCase()}</button>)}</li>
          <li>{say("as_film")} <button type="button" aria-label={say("as_film")} onClick={press((run) => record(runFilm(run, at.speed)))}>{say("record")}</button></li>
          <li>{say("as_text")} <button type="button" aria-label={say("as_text")} onClick={press(({ data, run }) => read(accountOf(data, run)))}>{say("read_or_copy")}</button></li>
        </ul>
      </details>
      {film && <Filming key={film} film={film} over={(focused) => (record(null), focused && opener())} />}
      {account && <Reading account={account} over={() => read(null)} />}
    </>
  );
}

/** The film that is being recorded: how far it is, the way to stop it, and what there is to say of it. `over`: with whether it had the focus */
function Filming({ film: { frames, left }, over }: { film: Film; over: (focused: boolean) => void }) {
  const [at, reached] = useState(0);
  const [news, tell] = useState<string | null>(null); // null: it is being recorded
  const button = useRef<HTMLButtonElement>(null);
  const stopping = useRef(new AbortController());
  const length = lengthOf(frames);
  const end = () => over(button.current?.matches(":focus") ?? false);
  useLayoutEffect(() => {
    const kind = filmKind();
    const { current: stop } = stopping;
    button.current?.focus();
    const whole = kind ? recorded(frames, kind, reached, stop.signal) : Promise.reject(new Error("no recorder"));
    whole.then((made) => {
      if (made) download(made, `${fileName(say("file_of_run"))}.${kind?.slice("video/".length)}`);
      if (made && left) tell(left);
      else end();
    }).catch(() => tell(sayOfSlides("no_film")));
    return () => stop.abort();
  }, []);
  return (
    <div class="filming">
      <p role="status">{news ?? sayOfSlides("recording", { seconds: Math.ceil(length / 1000) })}</p>
      <progress aria-label={sayOfSlides("how_far")} max={length} value={at} hidden={news !== null} />
      <button type="button" ref={button} onClick={() => (news === null ? stopping.current.abort() : end())}>{sayOfSlides(news === null ? "stop" : "close")}</button>
    </div>
  );
}

/** The run in sentences, in a dialog: to read, to hear, to copy. It does not change while it is read. */
function Reading({ account, over }: { account: Account; over: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [news, tell] = useState("");
  useLayoutEffect(() => {
    dialog.current?.showModal();
    body.current?.focus(); // at its beginning, and the arrow keys scroll it
  }, []);
  const paragraphs = (texts: string[]) => texts.map((each) => <p><Said text={each} /></p>);
  return (
    <dialog class="account" aria-labelledby="account-title" ref={dialog} onClose={over} onKeyDown={(event) => event.stopPropagation() /* its keys are not the stage's */}>
      <h2 id="account-title">{say("as_text")}</h2>
      <div class="sentences" tabIndex={0} role="group" aria-labelledby="account-title" ref={body}>
        {paragraphs(account.before)}
        <ul role="list">{account.rounds.map((each) => <li><Said text={each} /></li>)}</ul>{/* some browsers call a list without marks none */}
        {paragraphs(account.after)}
      </div>
      <textarea readOnly hidden rows={4} aria-label={say("as_text_field")} ref={field} />
      <p>
        <button type="button" onClick={async () => field.current && tell(say((await copied(asText(account), field.current)) ? "copied" : "copy_by_hand"))}>{say("copy_as_text")}</button>{" "}
        <button type="button" onClick={() => dialog.current?.close()}>{say("close")}</button> <span role="status">{news}</span>
      </p>
    </dialog>
  );
}
