/** The thread that decodes, from the text of its script: a page from disk may load no other file. */

const EVERY = 5000; // ms between two questions whether it is still there
const UNANSWERED = 4; // questions after which it is not: a browser tells nobody when it has ended a thread

/** `died`: it failed, or was ended by somebody else */
export function startThread(script: string, heard: (message: any) => void, died: () => void) {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const thread = new Worker(address);
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === UNANSWERED) return fail();
    unanswered += 1;
    thread.postMessage({ kind: "ping" });
  }, EVERY);
  const end = () => {
    clearInterval(timer);
    URL.revokeObjectURL(address);
    thread.terminate();
  };
  const fail = () => {
    end();
    died();
  };
  thread.onmessage = ({ data }) => {
    unanswered = 0;
    if (data.kind !== "alive") heard(data);
  };
  thread.onerror = (event) => {
    event.preventDefault();
    fail();
  };
  return { post: (message: unknown) => thread.postMessage(message), end };
}

export function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}
