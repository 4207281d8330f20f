// A drawing as a file: PNG at twice its size.

const SCALE = 2; // pixels of a PNG for each of the drawing's

/** `picture`: an SVG file */
export async function imageOf(picture: string) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`; // a page's policy allows data, and no blob
  await image.decode();
  return image;
}

export async function fileOf(picture: string, kind: "png" | "svg"): Promise<Blob> {
  if (kind === "svg") return new Blob([picture], { type: "image/svg+xml" });
  const image = await imageOf(picture);
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * image.width;
  canvas.height = SCALE * image.height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((file) => (file ? resolve(file) : reject(new Error("no picture"))), "image/png"));
}
