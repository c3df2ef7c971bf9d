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
 * What a kind of pane makes of the frames that come during a refetch, and of the snapshot that ends it.
 * @typedef {{
 *   readonly queued: number | null,
 *   begin(): void, arrive(frame: Frame): boolean, end(rendered: boolean): {voided: Frame[], kept: Frame[]},
 *   rest(): void, readonly calm: boolean, admits(snapshot: Snapshot): boolean,
 * }} Policy
 */

/**
 * The reads of one workstream's history, and the truth of what is on screen. The latch is set while the rows shown
 * are known to be out of date; only a rendered snapshot clears it. Two kinds of read: a *load*, while no stream is
 * open, and a *refetch* beside an open one, whose frames are the matter of the pane's policy.
 */
export class History {
  latch = false;
  /** The refetch under way; `rested` tells that a turn ended meanwhile. @type {{rested: boolean} | null} */
  #refetching = null;
  /** Rises with each read: an older one that answers late must change nothing. */
  #loadToken = 0;
  /** The token of the load under way; any other read makes it void. */
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

  /** Whether a load is under way, which will end in an open stream. */
  get loading() {
    return this.#loading === this.#loadToken;
  }

  get retryArmed() {
    return this.#retryTimer !== null;
  }

  /** A frame of a row: kept by the policy, passed over if its row is already complete, painted otherwise. */
  accept(/** @type {Frame} */ frame) {
    if (!this.#policy.arrive(frame)) this.#show(frame);
  }

  /**
   * Reads and renders while no stream is open. A load that fails leaves every row as it is.
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

  /** The rows on screen were cut: they stay, gated, until the snapshot that replaces them is rendered. */
  invalidate() {
    this.latch = true;
    void this.#refetch(true);
  }

  /** The end of a turn: the chance of a pane whose refetch and retry have both failed. */
  idleEdge() {
    if (this.#refetching !== null) this.#refetching.rested = true;
    if (!this.#mayHeal()) return;
    // One microtask later, when everything else that this edge causes has happened.
    queueMicrotask(() => {
      if (this.#mayHeal()) void this.#refetch(true);
    });
  }

  /** Makes every read under way void. */
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
    // A connection that fell or was redialled since may have missed, or replayed, what the snapshot holds.
    const fits = this.#stream.readyState === EventSource.OPEN && this.#stream.generation === generation;
    if (snapshot !== null && fits && this.#policy.admits(snapshot)) {
      this.#render(snapshot);
      this.#release(true);
    } else {
      this.#release(false);
      if (earnsRetry) this.#armRetry();
      // The edge that fell into this read could not heal, and no other need come.
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

  /** The refetch is over: what the policy has kept goes its way, in order. @param {boolean} rendered */
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

  /** One retry, which any newer read disarms. Its own failure arms no other: then the next idle edge heals. */
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

  /** A row that is being streamed would be lost to a render, and a refetch under way already brings one. */
  #mayHeal() {
    return this.latch && this.#refetching === null && this.#view.liveRefs() === 0 && this.#policy.calm;
  }
}
