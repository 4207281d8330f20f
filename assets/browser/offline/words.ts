import OFFLINE from "../../texts/browser/offline.json" with { type: "json" };
import { sayer } from "../shared/fill.js";

export const say = sayer(OFFLINE);
