import { request } from '../api.js';
import { rowsOf, standsIn } from './rows.js';
import { HISTORY_DEADLINE_MS, STALE_RETRY_JITTER_MS, STALE_RETRY_MS, jittered } from './timing.js';
import { parseSnapshot } from './wire.js';

/**
 * @import { Stream } from './stream.js'
 * @import { Frame, Snapshot } from './wire.js'
 *
 * What the history needs of the pane that shows it.
 * @typedef {{
 *   render(snapshot: Snapshot): void, paint(frame: Frame): void, passOver(frame: Frame): void,
 *   liveRefs(): number, running(): boolean, changed(): void,
 * }} View
 *
 * How a kind of pane handles the frames that arrive during a refetch, and the snapshot that ends it.
 * @typedef {{
 *   readonly queued: number | null,
 *   begin(): void, arrive(frame: Frame): boolean, end(rendered: boolean): {voided: Frame[], kept: Frame[]},
 *   rest(): void, readonly calm: boolean, admits(snapshot: Snapshot): boolean,
 * }} Policy
 */

/**
 * The reads of one workstream's history, and whether the rows on screen are current. The latch is set while they are
 * known to be out of date; only a rendered snapshot clears it. Two kinds of read: a *load*, while no stream is open,
 * and a *refetch* beside an open one, whose frames the pane's policy handles.
 */
export class History {
  latch = false;
  /** The refetch in flight; `rested`: a turn has ended since it was sent. @type {{rested: boolean} | null} */
  #refetching = null;
  /** Incremented by each read: an older read whose response is late must change nothing. */
  #loadToken = 0;
  /** The token of the load in flight; any newer read invalidates it. */
  #loading = -1;
  /** @type {AbortController | null} */
  #inFlight = null;
  /** @type {ReadonlySet<string>} */
  #rows = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  #retryTimer = null;
  #path;
  #stream;
  #policy;
  #view;

  /**
   * @param {string} path
   * @param {Stream} stream
   * @param {Policy} policy
   * @param {View} view
   */
  constructor(path, stream, policy, view) {
    this.#path = path;
    this.#stream = stream;
    this.#policy = policy;
    this.#view = view;
  }

  get refetching() {
    return this.#refetching !== null;
  }

  /** Whether a load is in flight; it ends in an open stream. */
  get loading() {
    return this.#loading === this.#loadToken;
  }

  get retryArmed() {
    return this.#retryTimer !== null;
  }

  /** Handles a frame of a row: queued by the policy, skipped if its row is already complete, else painted. */
  accept(/** @type {Frame} */ frame) {
    if (!this.#policy.arrive(frame)) this.#show(frame);
  }

  /**
   * Reads and renders while no stream is open. A load that fails changes no row.
   * @returns {Promise<'rendered' | 'failed' | 'superseded'>}
   */
  async load() {
    const token = this.#dispatch();
    this.#loading = token;
    this.#release(false);
    const snapshot = await this.#read();
    if (token !== this.#loadToken) return 'superseded';
    this.#loading = -1;
    if (snapshot === null) return 'failed';
    this.#render(snapshot);
    return 'rendered';
  }

  /** The rows on screen were cut: they remain, gated, until a snapshot replaces them. */
  invalidate() {
    this.latch = true;
    void this.#refetch(true);
  }

  /** The end of a turn: starts a refetch where the last one and its retry have both failed. */
  idleEdge() {
    if (this.#refetching !== null) this.#refetching.rested = true;
    if (!this.#mayHeal()) return;
    // One microtask later, after everything else that this edge causes.
    queueMicrotask(() => {
      if (this.#mayHeal()) void this.#refetch(true);
    });
  }

  /** Invalidates every read in flight. */
  cancel() {
    this.#loadToken += 1;
    this.#inFlight?.abort();
    this.#disarmRetry();
  }

  /** @param {boolean} earnsRetry */
  async #refetch(earnsRetry) {
    const token = this.#dispatch();
    const generation = this.#stream.generation;
    const refetch = { rested: this.#refetching?.rested ?? false };
    this.#refetching = refetch;
    this.#policy.begin();
    this.#view.changed();
    const snapshot = await this.#read();
    if (token !== this.#loadToken) return;
    // A connection that was lost or redialled since may have missed, or replayed, what the snapshot contains.
    const fits = this.#stream.readyState === EventSource.OPEN && this.#stream.generation === generation;
    if (snapshot !== null && fits && this.#policy.admits(snapshot)) {
      this.#render(snapshot);
      this.#release(true);
    } else {
      this.#release(false);
      if (earnsRetry) this.#armRetry();
      // The idle edge during this read could not start a refetch, and there may be no later one.
      if (refetch.rested) this.idleEdge();
    }
    this.#view.changed();
  }

  #dispatch() {
    this.#disarmRetry();
    this.#inFlight?.abort();
    this.#loadToken += 1;
    return this.#loadToken;
  }

  /** @returns {Promise<Snapshot | null>} */
  async #read() {
    const controller = new AbortController();
    this.#inFlight = controller;
    try {
      const options = { deadlineMs: HISTORY_DEADLINE_MS, controller };
      return parseSnapshot(await request(`${this.#path}/history`, options));
    } catch {
      return null;
    }
  }

  /** @param {Snapshot} snapshot */
  #render(snapshot) {
    this.#view.render(snapshot);
    this.#rows = rowsOf(snapshot.messages);
    this.latch = false;
    this.#disarmRetry();
  }

  /** The refetch has ended: the frames that the policy has queued are applied, in order. @param {boolean} rendered */
  #release(rendered) {
    this.#refetching = null;
    const { voided, kept } = this.#policy.end(rendered);
    voided.forEach((frame) => this.#view.passOver(frame));
    kept.forEach((frame) => this.#show(frame));
  }

  #show(/** @type {Frame} */ frame) {
    if (standsIn(this.#rows, frame)) this.#view.passOver(frame);
    else this.#view.paint(frame);
  }

  /** One retry; any newer read disarms it. If it fails too, the next idle edge starts a refetch. */
  #armRetry() {
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      const open = this.#stream.readyState === EventSource.OPEN;
      if (open && this.#mayHeal() && !this.#view.running()) void this.#refetch(false);
      this.#view.changed();
    }, jittered(STALE_RETRY_MS, STALE_RETRY_JITTER_MS));
  }

  #disarmRetry() {
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
  }

  /** A render would lose a row that is being streamed; and a refetch in flight already leads to a render. */
  #mayHeal() {
    return this.latch && this.#refetching === null && this.#view.liveRefs() === 0 && this.#policy.calm;
  }
}
