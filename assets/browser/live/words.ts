import LIVE from "../../texts/browser/live.json" with { type: "json" };
import RESULT from "../../texts/browser/result.json" with { type: "json" }; // what specviz/core/verdict.py says too
import { sayer } from "../shared/fill.js";

export const say = sayer({ ...RESULT, ...LIVE });
