import assert from "node:assert/strict";
import { test } from "node:test";

import { partOfCharacter, quoted, shorten, visible } from "../../assets/browser/shared/text.js";

test("every character that cannot be seen has a sign", () => {
  assert.equal(visible(" the\n\tend"), "␣the↵⇥end");
  assert.equal(visible(""), "⟨empty⟩");
  assert.equal(visible("\x00\x7f"), "⟨00⟩⟨7F⟩");
  assert.equal(visible("\u200b\u202e\ufeff"), "⟨U+200B⟩⟨U+202E⟩⟨U+FEFF⟩"); // zero width, right to left, byte order
  assert.equal(visible("naïve 猫 👩‍👧"), "naïve␣猫␣👩‍👧"); // the joiner inside a picture stays
});

test("a token in a sentence is in quotes, without the space before it", () => {
  assert.equal(quoted(" cat"), "“cat”");
  assert.equal(quoted(" "), "“␣”");
  assert.equal(quoted("a".repeat(30)), `“${"a".repeat(23)}…”`);
});

test("text is cut between characters, never inside one", () => {
  assert.equal(shorten("🐦🐦🐦", 3), "🐦🐦🐦");
  assert.equal(shorten("🐦🐦🐦🐦", 3), "🐦🐦…");
});

test("a part of a character says which part it is", () => {
  assert.equal(partOfCharacter(" ö(2/2)"), "This tokenizer cuts “ö” into 2 tokens: this is part 2, only bytes.");
  assert.equal(partOfCharacter("😀(1/4)"), "This tokenizer cuts “😀” into 4 tokens: this is part 1, only bytes.");
  for (const text of ["ö", " the", "⟨C3⟩", "1/2", "½", ""]) assert.equal(partOfCharacter(text), "");
});
