// A drawing as a file: PNG at twice its size.

const SCALE = 2; // pixels of a PNG for each of the drawing's

/** @param {string} picture an SVG file */
export async function imageOf(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`; // a page's policy allows data, and no blob
  await image.decode();
  return image;
}

/**
 * @param {string} picture
 * @param {"png" | "svg"} kind
 * @returns {Promise<Blob>}
 */
export async function fileOf(picture, kind) {
  if (kind === "svg") return new Blob([picture], { type: "image/svg+xml" });
  const image = await imageOf(picture);
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((file) => (file ? resolve(file) : reject(new Error("no picture"))), "image/png"));
}
