/** A manual clock: the page's timers and `performance.now()` move only with `advance()`. */
export class Clock {
  now = 0;
  #timers = new Map();
  #lastId = 0;
  #originals = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

  /** Replaces the process's clock until the end of the test. */
  static install(test) {
    const clock = new Clock();
    globalThis.setTimeout = (run, delay = 0) => clock.#set(run, delay);
    globalThis.clearTimeout = (id) => clock.#timers.delete(id);
    // In Node 18 `now` is inherited and cannot be assigned.
    Object.defineProperty(performance, 'now', { value: () => clock.now, configurable: true });
    test.after(() => {
      Object.assign(globalThis, clock.#originals);
      delete performance.now;
    });
    return clock;
  }

  /** How many timers are set. */
  get pending() {
    return this.#timers.size;
  }

  /** When the next timer is due, or null. */
  get next() {
    return this.#timers.size === 0 ? null : Math.min(...[...this.#timers.values()].map(({ at }) => at));
  }

  /** Lets time pass; due timers run in order, each with its promises settled before the next. */
  async advance(ms) {
    const end = this.now + ms;
    for (let next; (next = this.next) !== null && next <= end; ) {
      const [id, { at, run }] = [...this.#timers].find(([, timer]) => timer.at === next);
      this.#timers.delete(id);
      this.now = Math.max(this.now, at);
      run();
      await settle();
    }
    this.now = end;
  }

  #set(run, delay) {
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { at: this.now + delay, run });
    return this.#lastId;
  }
}

/** Resolves when all promise callbacks have run. */
export function settle() {
  return new Promise((resolve) => setImmediate(resolve));
}
