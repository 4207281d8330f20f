/** The thread that decodes, from the text of its script: a page from disk may load no other file. */

/**
 * @param {string} script
 * @param {(message: any) => void} heard
 * @param {() => void} died
 * @returns {Worker}
 */
export function startThread(script, heard, died) {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const thread = new Worker(address);
  thread.onmessage = ({ data }) => heard(data);
  thread.onerror = (event) => {
    event.preventDefault();
    died();
  };
  return thread;
}

/**
 * @param {string} base64
 * @returns {ArrayBuffer}
 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}
