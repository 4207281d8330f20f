import RACE from "../../texts/browser/race.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(RACE);
