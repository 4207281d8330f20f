import ENGINE from "../../texts/browser/engine.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(ENGINE);

/** What goes wrong because of what was asked for: its message is a sentence for the visitor. */
export class PlainError extends Error {}
