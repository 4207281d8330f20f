/** How often a growing run is drawn: after a drawing, three times as long is left to decoding. */

const REST = 3;

export class Pace {
  _rested = 0; // when the next drawing may begin

  constructor(public now = () => performance.now()) {}

  /** A new run: its first drawing waits for nothing. */
  begin() {
    this._rested = 0;
  }

  /** `last`: of the run: it is always drawn */
  take(last: boolean, draw: () => void) {
    const began = this.now();
    if (began < this._rested && !last) return; // a later trace has all of this one
    draw();
    const ended = this.now();
    this._rested = ended + REST * (ended - began);
  }
}
