import SHARED from "../../texts/browser/shared.json" with { type: "json" };
import { sayer } from "./fill.js";

export const say = sayer(SHARED);
