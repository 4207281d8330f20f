/**
 * Hand the visitor a file that the browser has made.
 * @param {Blob} file
 * @param {string} name
 */
export function download(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // not at once: some browsers read it later
}
