// Page time: setTimeout, setInterval, Date and performance.now on a clock of the harness.
//
// It flows with the wall clock until it is frozen. Then only steps move it. The time at which it
// is frozen, or by how much it is behind, survives a navigation; timers die with their document.
() => {
  const setTimeout = window.setTimeout.bind(window);
  const clearTimeout = window.clearTimeout.bind(window);
  const wallNow = performance.now.bind(performance);
  const WallDate = Date;
  const begin = performance.timeOrigin;
  const storage = storageOfThisOrigin();
  const KEPT = "__pageTime";

  /** `{ at }` while it is frozen, `{ behind }` while it flows; milliseconds of the epoch. */
  let state = recall() ?? { behind: 0 };
  const wall = () => begin + wallNow();
  const frozen = () => "at" in state;
  const now = () => (frozen() ? state.at : wall() - state.behind);
  /** Where performance.now counts from: below zero it would be before its document. */
  const origin = now() - wallNow();
  /** Timers that are due some time, by id: `{ id, due, every, run, wall }`. */
  const timers = new Map();
  let lastId = 0;

  function storageOfThisOrigin() {
    try {
      return window.sessionStorage;
    } catch {
      return null; // A document without an origin has none, and no scenario stays in one.
    }
  }

  function recall() {
    return JSON.parse(storage?.getItem(KEPT) ?? "null");
  }

  function become(next) {
    state = next;
    storage?.setItem(KEPT, JSON.stringify(next));
  }

  function arm(timer) {
    if (!frozen()) timer.wall = setTimeout(() => fire(timer), timer.due - now());
  }

  function fire(timer) {
    if (timer.every === null) {
      timers.delete(timer.id);
    } else {
      timer.due += timer.every;
      arm(timer);
    }
    timer.run();
  }

  function add(run, delay, every, args) {
    if (typeof run !== "function") throw new TypeError("page time runs functions only");
    lastId += 1;
    // As in a browser: an interval waits at least a millisecond, or a step would never end.
    const period = every ? Math.max(1, Number(delay) || 0) : null;
    const due = now() + Math.max(0, period ?? (Number(delay) || 0));
    const timer = { id: lastId, due, every: period, run: () => run.apply(window, args) };
    timers.set(timer.id, timer);
    arm(timer);
    return timer.id;
  }

  function remove(id) {
    const timer = timers.get(id);
    timers.delete(id);
    if (timer) clearTimeout(timer.wall);
  }

  function nextDue(until) {
    const due = [...timers.values()].filter((timer) => timer.due <= until);
    return due.sort((one, other) => one.due - other.due || one.id - other.id)[0];
  }

  window.setTimeout = (run, delay, ...args) => add(run, delay, false, args);
  window.setInterval = (run, delay, ...args) => add(run, delay, true, args);
  window.clearTimeout = remove;
  window.clearInterval = remove;
  performance.now = () => now() - origin;
  WallDate.now = () => Math.floor(now());
  window.Date = new Proxy(WallDate, {
    apply: () => new WallDate(now()).toString(),
    construct: (target, args, made) => Reflect.construct(target, args.length > 0 ? args : [now()], made),
  });
  WallDate.prototype.constructor = window.Date;

  window.__pageTime = {
    now,
    /** Whether no timer of the page will fire by itself: none is armed, or time is frozen. */
    idle: () => frozen() || timers.size === 0,
    /** The originals, for helpers of the harness: their waits keep wall time. */
    originals: { setTimeout, clearTimeout },

    freeze() {
      if (frozen()) return;
      become({ at: now() });
      for (const timer of timers.values()) clearTimeout(timer.wall);
    },

    flow() {
      if (!frozen()) return;
      become({ behind: wall() - state.at });
      for (const timer of timers.values()) arm(timer);
    },

    /**
     * Moves the clock to the timer that falls due next, and fires it in a macrotask of its own, as
     * a browser would; or to `until`, when none falls due by then. Resolves to whether one fired.
     */
    step(until) {
      if (!frozen()) throw new Error("page time flows; freeze it before a step");
      return new Promise((resolve) => {
        setTimeout(() => {
          const timer = nextDue(until);
          become({ at: Math.max(state.at, timer?.due ?? until) });
          resolve(timer !== undefined);
          if (timer) fire(timer);
        }, 0);
      });
    },
  };
}
