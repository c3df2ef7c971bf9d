import { ORPHAN_LIMIT, ORPHAN_WAIT_MS } from '../recovery/timing.js';

/** @import { Frame } from '../recovery/wire.js' */

/**
 * Frames of an agent's calls that arrived before the call of the agent itself. They wait for it, up to a limit; then
 * they are released, oldest first, and painted on their own: shown in the wrong place rather than not at all.
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

  /** Removes the frames that can be placed now, in their order. @param {(frame: Frame) => boolean} place */
  retry(place) {
    this.#waiting = this.#waiting.filter(({ frame, timer }) => {
      const placed = place(frame);
      if (placed) clearTimeout(timer);
      return !placed;
    });
  }

  /** Drops all of them. */
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
