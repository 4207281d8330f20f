export function bytesOf(base64: string) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
