/** @import { Frame } from './wire.js' */

/**
 * The policy of a pane that keeps still during a refetch: what comes waits for the snapshot, which then may replace
 * every row.
 */
export class Quiesce {
  /** @type {Frame[] | null} */
  #frames = null;
  /** How many of them came before the newest cut. */
  #cut = 0;
  calm = true;

  get queued() {
    return this.#frames?.length ?? null;
  }

  /** A refetch is sent. What waited for a superseded one came before this cut: its snapshot holds it, or it was cut. */
  begin() {
    this.#frames ??= [];
    this.#cut = this.#frames.length;
  }

  /** A frame has come. @param {Frame} frame @returns {boolean} whether it waits */
  arrive(frame) {
    this.#frames?.push(frame);
    return this.#frames !== null;
  }

  /** The refetch is over. @param {boolean} rendered */
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
