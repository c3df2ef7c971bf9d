import { element, setText } from './dom.js';

/** @import { StreamState } from '../recovery/status.js' */

/** @type {Record<StreamState, string>} */
const STREAM_STATES = {
  connecting: 'Connecting',
  'catching-up': 'Catching up',
  live: 'Live',
  stale: 'Out of date',
  degraded: 'Out of date, will retry',
  offline: 'Offline, reconnecting',
};

/** The state of a pane's stream, visible and announced. */
export class StreamChip {
  #label = element('span', 'stream-label');
  el = element('span', 'stream-state', element('span', 'stream-dot'), this.#label);

  constructor() {
    this.el.setAttribute('role', 'status');
  }

  /** @param {StreamState} state @param {boolean} busy whether a turn runs */
  show(state, busy) {
    this.el.dataset.state = state;
    setText(this.#label, state === 'live' && busy ? 'Working' : STREAM_STATES[state]);
  }
}
