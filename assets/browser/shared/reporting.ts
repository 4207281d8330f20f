// What goes back to the server. Each report makes Streamlit run its script again, so a component reports rarely.

const WAIT = 350; // ms in which another movement replaces the report

export class Reporter {
  reported: number | null = null;
  send: (place: number) => void = () => {};
  timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** `place`: where the visitor is; null while there is nothing to report */
  constructor(public place: () => number | null) {}

  /** Report soon, if the visitor has stopped and the place is new. */
  report() {
    this.stop();
    this.timer = setTimeout(() => {
      const place = this.place();
      if (place === null || place === this.reported) return;
      this.reported = place;
      this.send(place);
    }, WAIT);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
