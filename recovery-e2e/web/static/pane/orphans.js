import { ORPHAN_LIMIT, ORPHAN_WAIT_MS } from '../recovery/timing.js';

/** @import { Frame } from '../recovery/wire.js' */

/**
 * Frames of an agent's calls that came before the call of the agent itself. They wait a moment for it; then they are
 * let go, oldest first, to be painted on their own: shown in the wrong place they are still shown.
 */
export class Orphans {
  /** @type {{frame: Frame, timer: ReturnType<typeof setTimeout>}[]} */
  #waiting = [];
  #letGo;

  /** @param {(frame: Frame) => void} letGo */
  constructor(letGo) {
    this.#letGo = letGo;
  }

  /** @param {Frame} frame */
  hold(frame) {
    this.#waiting.push({ frame, timer: setTimeout(() => this.#release(), ORPHAN_WAIT_MS) });
    if (this.#waiting.length > ORPHAN_LIMIT) this.#release();
  }

  /** Takes out those that find their place now, in their order. @param {(frame: Frame) => boolean} place */
  retry(place) {
    this.#waiting = this.#waiting.filter(({ frame, timer }) => {
      const placed = place(frame);
      if (placed) clearTimeout(timer);
      return !placed;
    });
  }

  /** Forgets all of them. */
  clear() {
    for (const { timer } of this.#waiting) clearTimeout(timer);
    this.#waiting = [];
  }

  #release() {
    const oldest = this.#waiting.shift();
    if (!oldest) return;
    clearTimeout(oldest.timer);
    this.#letGo(oldest.frame);
  }
}
