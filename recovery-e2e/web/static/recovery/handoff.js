import { REPAIR_ATTEMPTS, REPAIR_BACKOFF_MS, REPAIR_JITTER_MS, jittered } from './timing.js';

/** The handoff token: proves that no gap is between a rendered snapshot and the next connection. Valid once. */
export class HandoffToken {
  /** @type {string | null} */
  #token = null;

  /** Keeps the token of the snapshot on screen. @param {string | null} token */
  arm(token) {
    this.#token = token;
  }

  /** Returns the token for the connection being opened, and clears it. */
  take() {
    const token = this.#token;
    this.#token = null;
    return token;
  }
}

/**
 * The repair after the node refused to continue (`history_resync`): reloads the history until a snapshot renders, up to
 * a number of attempts, then waits for the user. While it is active no stream may open: it would be refused again.
 */
export class HandoffRepair {
  /** @type {'none' | 'trying' | 'waiting' | 'exhausted'} */
  phase = 'none';
  #failures = 0;
  /** Distinguishes the current attempt from cancelled ones. */
  #runs = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #on;

  /** @param {{attempt(): Promise<boolean>, repaired(): void, changed(): void}} on `attempt` resolves to true if it rendered */
  constructor(on) {
    this.#on = on;
  }

  get active() {
    return this.phase !== 'none';
  }

  /** Whether the automatic attempts are used up; also during an attempt that the user started. */
  get exhausted() {
    return this.active && this.#failures >= REPAIR_ATTEMPTS;
  }

  /** Starts the automatic attempts; a no-op during a repair. */
  begin() {
    if (this.active) return;
    this.#failures = 0;
    void this.try();
  }

  /** Starts one attempt now, unless one is in flight. */
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

  /** A hidden page uses no attempts: the next one waits until the page is visible. */
  #due = () => {
    if (document.visibilityState !== 'hidden') void this.try();
    else document.addEventListener('visibilitychange', this.#due, { once: true });
  };

  #disarm() {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#due);
  }
}
