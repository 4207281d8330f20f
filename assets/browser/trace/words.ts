import TRACE from "../../texts/browser/trace.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(TRACE);
