import { redialWait } from './timing.js';
import { parseFrame } from './wire.js';

/**
 * @import { RosterFrame } from './roster.js'
 * @import { StreamState } from './status.js'
 */

const PATH = '/v1/api/events/global';

/** Frames that end the cursor: what follows it is either lost or in the snapshot that comes with them. */
const CURSOR_ENDS = new Set(['replay_truncated', 'node_snapshot']);

/**
 * The transport of the global lane, one for each page. Unlike a pane's it stays open while the page is hidden. A source
 * that the browser gave up is reopened when the page is shown or focused, or after a wait.
 */
export class RosterStream {
  /** Where a new source resumes. Opaque to the client. @type {string | null} */
  #cursor = null;
  /** @type {EventSource | null} */
  #source = null;
  /** The replay of this connection has ended: later frames are live. */
  #caughtUp = false;
  /** How many connections have failed since the last one that opened. */
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #redialTimer;
  #on;

  /** @param {{frame(frame: RosterFrame): void, refused(): void, changed(): void}} on `refused`: the browser gave up */
  constructor(on) {
    this.#on = on;
    document.addEventListener('visibilitychange', this.#wake);
    window.addEventListener('focus', this.#wake);
  }

  /** @returns {StreamState} */
  get state() {
    if (this.#source?.readyState === EventSource.OPEN) return this.#caughtUp ? 'live' : 'catching-up';
    return this.#failures === 0 ? 'connecting' : 'offline';
  }

  /** Replaces the source with a new one. */
  open() {
    clearTimeout(this.#redialTimer);
    this.#source?.close();
    const query = this.#cursor === null ? '' : `?${new URLSearchParams({ last_event_id: this.#cursor })}`;
    const source = new EventSource(PATH + query);
    this.#source = source;
    let inherited = '';
    source.onopen = () => {
      this.#failures = 0;
      this.#caughtUp = false;
      this.#on.changed();
    };
    source.onmessage = ({ data, lastEventId }) => {
      // A frame without an id repeats the last one of its source, even after a redial from an older cursor.
      if (lastEventId !== inherited) this.#cursor = inherited = lastEventId;
      const frame = parseFrame(data);
      if (frame) this.#frame(/** @type {RosterFrame} */ (frame));
      else this.#unreadable();
    };
    source.onerror = () => {
      this.#failures += 1;
      // The browser redials by itself, with the header, unless it was refused with a status.
      if (source.readyState === EventSource.CLOSED) this.#refused();
      this.#on.changed();
    };
    this.#on.changed();
  }

  /** The user is signed out: the next user has not seen the frames before the cursor. */
  forget() {
    this.#cursor = null;
  }

  /** @param {RosterFrame} frame */
  #frame(frame) {
    if (CURSOR_ENDS.has(frame.type)) this.#cursor = null;
    if (frame.type === 'replay_complete') this.#caughtUp = true;
    this.#on.frame(frame);
    this.#on.changed();
  }

  /** A change was lost, and only a snapshot contains it: the connection is closed and counted as failed. */
  #unreadable() {
    this.#cursor = null;
    this.#failures += 1;
    this.#source?.close();
    this.#redialLater();
    this.#on.changed();
  }

  #refused() {
    this.#redialLater();
    this.#on.refused();
  }

  #redialLater() {
    this.#redialTimer = setTimeout(() => this.open(), redialWait(this.#failures));
  }

  #wake = () => {
    if (document.visibilityState === 'hidden') return;
    if (this.#source === null || this.#source.readyState === EventSource.CLOSED) this.open();
  };
}
