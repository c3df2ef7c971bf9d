import { REPAIR_ATTEMPTS, REPAIR_BACKOFF_MS, REPAIR_JITTER_MS, jittered } from './timing.js';

/** The proof that a rendered snapshot and the next connection meet without a gap. It is good for one connection. */
export class HandoffToken {
  /** @type {string | null} */
  #token = null;

  /** Keeps the proof of the snapshot on screen. @param {string | null} token */
  arm(token) {
    this.#token = token;
  }

  /** Hands the proof to the connection being opened, and forgets it. */
  take() {
    const token = this.#token;
    this.#token = null;
    return token;
  }
}

/**
 * The way back after the node refused to continue (`history_resync`): reload the history until one renders, with a
 * budget, and then leave it to the person. While it is active no stream may open: it would be refused again.
 */
export class HandoffRepair {
  /** @type {'none' | 'trying' | 'waiting' | 'exhausted'} */
  phase = 'none';
  #failures = 0;
  /** Tells the attempt that counts from those that were cancelled. */
  #runs = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #on;

  /** @param {{attempt(): Promise<boolean>, repaired(): void, changed(): void}} on `attempt` tells if it rendered */
  constructor(on) {
    this.#on = on;
  }

  get active() {
    return this.phase !== 'none';
  }

  /** Whether the automatic attempts are used up, also while one that a person asked for is under way. */
  get exhausted() {
    return this.active && this.#failures >= REPAIR_ATTEMPTS;
  }

  /** Starts the automatic attempts; a repair under way goes on as it is. */
  begin() {
    if (this.active) return;
    this.#failures = 0;
    void this.try();
  }

  /** Makes one attempt now, unless one is under way. */
  async try() {
    if (this.phase === 'trying') return;
    this.#disarm();
    const run = ++this.#runs;
    this.phase = 'trying';
    this.#on.changed();
    const rendered = await this.#on.attempt();
    if (run !== this.#runs) return;
    if (!rendered) return this.#failed();
    this.cancel();
    this.#on.repaired();
  }

  /** Ends the repair, whatever its state. */
  cancel() {
    this.#disarm();
    this.#runs += 1;
    this.phase = 'none';
    this.#on.changed();
  }

  #failed() {
    this.#failures += 1;
    this.phase = this.#failures < REPAIR_ATTEMPTS ? 'waiting' : 'exhausted';
    if (this.phase === 'waiting') {
      const floor = REPAIR_BACKOFF_MS * 2 ** (this.#failures - 1);
      this.#timer = setTimeout(this.#due, jittered(floor, REPAIR_JITTER_MS));
    }
    this.#on.changed();
  }

  /** A hidden page spends no budget: its attempt waits until the page is shown. */
  #due = () => {
    if (document.visibilityState !== 'hidden') void this.try();
    else document.addEventListener('visibilitychange', this.#due, { once: true });
  };

  #disarm() {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#due);
  }
}
