import { advance } from './cursor.js';
import { redialWait } from './timing.js';
import { parseFrame } from './wire.js';

/** @import { Frame } from './wire.js' */

/**
 * The transport of one lane: an EventSource, the cursor of its newest frame, and the number of times it opened.
 * It closes while the page is hidden and reopens when it is shown. It does not interpret rows.
 */
export class Stream {
  /** Id of the newest frame seen, which a later connection resumes from. @type {string | null} */
  cursor = null;
  /** Incremented when a connection opens, native redials included: a request sent earlier belongs to another connection. */
  generation = 0;
  /** @type {EventSource | null} */
  #source = null;
  /** Last id that this source's frames carried; an id-less frame repeats it. */
  #inherited = '';
  /** The page was hidden while a connection was open or wanted. */
  #resume = false;
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #redialTimer;
  #url;
  #on;

  /**
   * @param {() => string} url called for each connection
   * @param {{opened(): void, frame(frame: Frame): void, dropped(): void, changed(): void}} on
   */
  constructor(url, on) {
    this.#url = url;
    this.#on = on;
    document.addEventListener('visibilitychange', this.#visibility);
  }

  /** The EventSource's state, or null without one. @returns {0 | 1 | 2 | null} */
  get readyState() {
    return this.#source === null ? null : /** @type {0 | 1 | 2} */ (this.#source.readyState);
  }

  /** Whether a connection has failed since the last one that opened. */
  get failing() {
    return this.#failures > 0;
  }

  /** Replaces the connection with a new one; on a hidden page, as soon as it is shown. */
  open() {
    this.#drop();
    this.#resume = document.visibilityState === 'hidden';
    if (this.#resume) return this.#on.changed();
    const source = new EventSource(this.#url());
    this.#source = source;
    this.#inherited = '';
    source.onopen = () => {
      this.generation += 1;
      this.#failures = 0;
      this.#on.opened();
    };
    source.onmessage = (message) => {
      // Before parsing: an invalid frame was still delivered, and must not be requested again.
      this.#capture(message.lastEventId);
      const frame = parseFrame(message.data);
      if (frame) this.#on.frame(frame);
    };
    source.onerror = () => {
      this.#failures += 1;
      // The browser redials by itself, with the header, unless it was refused with a status.
      if (source.readyState === EventSource.CLOSED) this.#scheduleRedial();
      this.#on.changed();
    };
    this.#on.changed();
  }

  /** Closes the connection; none is opened when the page is shown. */
  close() {
    this.#drop();
    this.#resume = false;
    this.#on.changed();
  }

  /** Ends the stream for good. */
  destroy() {
    document.removeEventListener('visibilitychange', this.#visibility);
    this.#drop();
    this.#resume = false;
  }

  #drop() {
    clearTimeout(this.#redialTimer);
    if (this.#source === null) return;
    this.#source.close();
    this.#source = null;
    this.#on.dropped();
  }

  /** @param {string} id */
  #capture(id) {
    // A repeated id is an inherited one. After a truncation it may be of an older epoch than the cursor.
    if (id === '' || id === this.#inherited) return;
    this.#inherited = id;
    this.cursor = advance(this.cursor, id);
  }

  #scheduleRedial() {
    clearTimeout(this.#redialTimer);
    this.#redialTimer = setTimeout(() => this.open(), redialWait(this.#failures));
  }

  #visibility = () => {
    if (document.visibilityState === 'hidden') {
      if (this.#source === null) return;
      this.#drop();
      this.#resume = true;
      this.#on.changed();
    } else if (this.#resume) {
      this.open();
    }
  };
}
