/** Copy a text; where nothing may be copied, the field shows it, selected, so that the visitor can copy it by hand. Returns whether it was copied */
export async function copied(text: string, field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    field.hidden = true;
    return true;
  } catch {
    field.hidden = false; // no clipboard here: plain http, refused, or a frame without the right to it
    field.value = text;
    field.focus();
    field.select();
    return document.execCommand("copy"); // the older way needs no permission
  }
}
