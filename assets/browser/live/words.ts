import LIVE from "../../texts/browser/live.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(LIVE);
