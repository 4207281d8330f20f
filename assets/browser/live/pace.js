/** How often a growing run is drawn: after a drawing, three times as long is left to decoding. */

const REST = 3;

export class Pace {
  constructor(now = () => performance.now()) {
    this._now = now;
    this._rested = 0; // when the next drawing may begin
  }

  /** A new run: its first drawing waits for nothing. */
  begin() {
    this._rested = 0;
  }

  /**
   * @param {boolean} last of the run: it is always drawn
   * @param {() => void} draw
   */
  take(last, draw) {
    const began = this._now();
    if (began < this._rested && !last) return; // a later trace has all of this one
    draw();
    const ended = this._now();
    this._rested = ended + REST * (ended - began);
  }
}
