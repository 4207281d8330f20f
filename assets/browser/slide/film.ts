// A slide as a file: PNG at twice its size. And slides one after the other as a film. The browser's own recorder makes it, as long as it lasts: nothing is loaded for it.

import { SIZE } from "./sheet.js";

export type Frame = { draw: () => string, ms: number }; // a slide, and how long it stays
export type Film = { frames: Frame[], left: string }; // left: what it leaves out, in a sentence; else empty

const SCALE = 2; // pixels of a PNG for each of the drawing's
const KINDS = ["video/webm", "video/mp4"]; // older Safaris record the second only
const SHARP = 6_000_000; // bits a second: letters stay clear
const TICK = 500; // ms between two pictures of the film, also where nothing moves: few, for slow machines
const CAUGHT_UP = 1000; // ms without news from the recorder after which it has nothing more to write
export const MOST = 120_000; // ms of a film
export const LAST = 3000; // ms that its end stays

/** The kind of film that this browser records; undefined: none. */
export function filmKind() {
  if (typeof MediaRecorder === "undefined" || !("captureStream" in HTMLCanvasElement.prototype)) return undefined;
  return KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
}

export function lengthOf(frames: Frame[]) {
  return frames.reduce((sum, { ms }) => sum + ms, 0);
}

/** Null where it was stopped. */
export async function recorded(frames: Frame[], kind: string, reached: (ms: number) => void, stopped: AbortSignal): Promise<Blob | null> {
  const canvas = Object.assign(document.createElement("canvas"), SIZE);
  const context = canvas.getContext("2d", { alpha: false });
  const stream = canvas.captureStream();
  const recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: SHARP });
  const file = whole(recorder, kind);
  recorder.start(TICK);
  let at = 0;
  try {
    for (const { draw, ms } of frames) {
      const image = await imageOf(draw());
      for (let left = ms; left > 0 && !stopped.aborted; left -= TICK) {
        if (document.hidden) { // a browser gives a hidden page no pictures
          recorder.pause();
          await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
          recorder.resume();
        }
        context?.drawImage(image, 0, 0);
        await pause(Math.min(left, TICK));
        reached((at += Math.min(left, TICK)));
      }
      if (stopped.aborted) break;
    }
    if (!stopped.aborted) await caughtUp(recorder);
  } finally {
    recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  }
  const made = await file;
  return stopped.aborted ? null : made;
}

function whole(recorder: MediaRecorder, kind: string): Promise<Blob> {
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  return new Promise((resolve, reject) => {
    recorder.addEventListener("stop", () => resolve(new Blob(parts, { type: kind })));
    recorder.addEventListener("error", reject);
  });
}

/** A recorder that is stopped throws away the pictures that it has not written yet: on a busy machine, the film's end. */
async function caughtUp(recorder: MediaRecorder) {
  let heard = performance.now();
  recorder.addEventListener("dataavailable", () => (heard = performance.now()));
  while (performance.now() - heard < CAUGHT_UP) await pause(TICK / 5);
}

function pause(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `picture`: an SVG file */
async function imageOf(picture: string) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`; // a page's policy allows data, and no blob
  await image.decode();
  return image;
}

export async function fileOf(picture: string, kind: "png" | "svg"): Promise<Blob> {
  if (kind === "svg") return new Blob([picture], { type: "image/svg+xml" });
  const image = await imageOf(picture);
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((file) => (file ? resolve(file) : reject(new Error("no picture"))), "image/png"));
}
