/** @import { Frame } from './wire.js' */

/**
 * The policy of a pane that queues all frames during a refetch, so that the snapshot may replace every row.
 */
export class Quiesce {
  /** @type {Frame[] | null} */
  #frames = null;
  /** How many of them arrived before the newest cut. */
  #cut = 0;
  calm = true;

  get queued() {
    return this.#frames?.length ?? null;
  }

  /** A refetch is sent. Frames queued for a superseded one precede this cut: they are in its snapshot, or were cut. */
  begin() {
    this.#frames ??= [];
    this.#cut = this.#frames.length;
  }

  /** A frame has arrived. @param {Frame} frame @returns {boolean} whether it is queued */
  arrive(frame) {
    this.#frames?.push(frame);
    return this.#frames !== null;
  }

  /** The refetch has ended. @param {boolean} rendered */
  end(rendered) {
    const frames = this.#frames ?? [];
    const cut = rendered ? this.#cut : 0;
    this.#frames = null;
    return { voided: frames.slice(0, cut), kept: frames.slice(cut) };
  }

  rest() {}

  admits() {
    return true;
  }
}
