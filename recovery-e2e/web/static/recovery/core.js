import { workstreamPath } from '../api.js';
import { HandoffRepair, HandoffToken } from './handoff.js';
import { History } from './history.js';
import { streamState } from './status.js';
import { Stream } from './stream.js';
import { Truncation } from './truncation.js';

/**
 * @import { Policy } from './history.js'
 * @import { Frame, Snapshot } from './wire.js'
 *
 * The pane that is being recovered: it paints, and reports what recovery must not disturb.
 * @typedef {{
 *   render(snapshot: Snapshot): void, paint(frame: Frame): void, passOver(frame: Frame): void,
 *   rested(): void, liveRefs(): number, endRefs(): void, sending(): boolean, changed(): void,
 * }} Pane
 */

const RUNNING = new Set(['thinking', 'running']);
const AT_REST = new Set(['idle', 'error']);

/** Keeps one pane consistent with its workstream: connects stream, history, handoff and truncation. */
export class Recovery {
  #turn = 'idle';
  /** The replay of this connection has ended: later frames are live. */
  #caughtUp = false;
  #token = new HandoffToken();
  #path;
  #pane;
  #policy;
  #stream;
  #history;
  #truncation;
  #repair;

  /**
   * @param {string} wsId
   * @param {Pane} pane
   * @param {Policy} policy what distinguishes this kind of pane
   */
  constructor(wsId, pane, policy) {
    this.#path = workstreamPath(wsId);
    this.#pane = pane;
    this.#policy = policy;
    this.#stream = new Stream(() => this.#url(), {
      opened: () => this.#opened(),
      frame: (frame) => this.#frame(frame),
      dropped: () => this.#truncation.transportDropped(),
      changed: () => pane.changed(),
    });
    this.#history = new History(this.#path, this.#stream, policy, {
      ...pane,
      render: (snapshot) => this.#render(snapshot),
      running: () => this.#running,
    });
    this.#truncation = new Truncation({ running: () => this.#running, reload: () => void this.#reload() });
    this.#repair = new HandoffRepair({
      attempt: async () => (await this.#history.load()) === 'rendered',
      repaired: () => this.#stream.open(),
      changed: () => pane.changed(),
    });
  }

  /**
   * A turn runs, or a message was sent whose turn has not been seen. The second closes the gate of the rows, but
   * blocks no refetch: the frame that would end it may be the one that was lost.
   */
  get busy() {
    return this.#running || this.#pane.sending();
  }

  /** Whether the pane is out of date and no refetch is in flight or scheduled: the user has to act. */
  get needsPerson() {
    if (this.#repair.active) return this.#repair.exhausted;
    if (this.#truncation.degraded) return true;
    return this.streamState === 'stale' && this.#history.latch && !this.#history.retryArmed && !this.#running;
  }

  /** Whether a load or a refetch is in flight. */
  get reloading() {
    return this.#history.loading || this.#history.refetching;
  }

  get streamState() {
    return streamState({
      readyState: this.#stream.readyState,
      latch: this.#history.latch,
      refetching: this.#history.refetching,
      loading: this.#history.loading,
      failing: this.#stream.failing,
      caughtUp: this.#caughtUp,
      truncated: this.#truncation.from !== null,
      degraded: this.#truncation.degraded,
      repair: this.#repair.phase,
      opened: this.#stream.generation > 0,
    });
  }

  state() {
    return Object.freeze({
      latch: this.#history.latch,
      queued: this.#policy.queued,
      retryArmed: this.#history.retryArmed,
      cursor: this.#stream.cursor,
      generation: this.#stream.generation,
      readyState: this.#stream.readyState,
      busy: this.busy,
      liveRefs: this.#pane.liveRefs(),
    });
  }

  /** Loads the history, then opens a new stream. During a repair: starts its next attempt now. */
  async connect() {
    if (this.#repair.active) return this.#repair.try();
    this.#truncation.clear();
    // A streamed row does not continue on the next connection; a leftover ref would block every later refetch.
    this.#pane.endRefs();
    await this.#reload();
  }

  /** Closes the stream and cancels what would open it. A refetch in flight continues; its snapshot will be declined. */
  disconnect() {
    if (this.#history.loading) this.#history.cancel();
    this.#repair.cancel();
    this.#stream.close();
  }

  /** Replaces the stream with a new one, from its cursor. A no-op during a load or a repair: either one opens a stream. */
  redial() {
    if (!this.#repair.active && !this.#history.loading) this.#stream.open();
  }

  /** Stops everything. Requests still in flight change nothing. */
  destroy() {
    this.#history.cancel();
    this.#repair.cancel();
    this.#truncation.clear();
    this.#stream.destroy();
  }

  get #running() {
    return RUNNING.has(this.#turn);
  }

  async #reload() {
    this.#stream.close();
    this.#stream.cursor = null;
    this.#token.arm(null);
    const load = this.#history.load();
    this.#pane.changed();
    if ((await load) === 'superseded') return;
    // Also without a snapshot: to a connection without a token the node sends `clear_ui`, which starts a refetch.
    this.#stream.open();
  }

  #url() {
    const query = new URLSearchParams();
    const cursor = this.#truncation.from ?? this.#stream.cursor;
    const token = this.#token.take();
    if (cursor !== null) query.set('last_event_id', cursor);
    query.set('user_turn', '1');
    query.set('tool_turn', '1');
    if (token !== null) query.set('history_token', token);
    return `${this.#path}/events?${query}`;
  }

  /** @param {Snapshot} snapshot */
  #render(snapshot) {
    this.#pane.render(snapshot);
    this.#truncation.clear();
    // Only a load precedes a connection; beside an open one, cursor and token belong to the stream.
    if (this.#stream.readyState !== null) return;
    this.#stream.cursor = snapshot.cursor;
    this.#token.arm(snapshot.handoff_token);
  }

  #opened() {
    this.#caughtUp = false;
    this.#pane.changed();
  }

  /** @param {Frame} frame */
  #frame(frame) {
    switch (frame.type) {
      case 'clear_ui':
        this.#history.invalidate();
        break;
      case 'history_resync':
        this.#resync();
        break;
      case 'replay_truncated':
        this.#truncation.envelope(this.#stream.cursor);
        break;
      case 'replay_complete':
        this.#caughtUp = true;
        this.#rest();
        break;
      case 'state_change':
        this.#turn = frame.state ?? this.#turn;
        this.#rest();
        break;
      case 'connected':
      case 'status':
      case 'stream_overflow': // The browser redials by itself, and the ring replays what was not delivered.
        break;
      default:
        this.#history.accept(frame);
    }
    this.#pane.changed();
  }

  /** The idle edge. Before the replay has ended, a state is the initial one of the connection, not a change. */
  #rest() {
    if (!this.#caughtUp || !AT_REST.has(this.#turn)) return;
    this.#pane.rested();
    this.#policy.rest();
    if (!this.#truncation.idleEdge()) this.#history.idleEdge();
  }

  #resync() {
    this.#history.latch = true;
    this.#stream.close();
    this.#repair.begin();
  }
}
