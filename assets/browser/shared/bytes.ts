// Bytes: from a text in base64, and as characters.

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LONGEST = 4; // bytes of a character in UTF-8

export function bytesOf(base64: string) {
  const text = atob(base64); // 21 MB of weights: a list of characters would take seconds and 800 MB
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  return bytes;
}

/** The character that begins here in UTF-8, and how many bytes it has; null if none does. */
export function characterAt(bytes: number[], at: number) {
  for (let length = 1; length <= LONGEST && at + length <= bytes.length; length += 1) {
    try {
      return { length, character: UTF8.decode(Uint8Array.from(bytes.slice(at, at + length))) };
    } catch {
      // no character yet
    }
  }
  return null;
}
