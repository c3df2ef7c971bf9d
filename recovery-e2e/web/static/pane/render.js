import { rowsOf, standsIn } from '../recovery/rows.js';
import { element } from './dom.js';
import { Entries } from './entries.js';
import { Follow } from './follow.js';
import { Orphans } from './orphans.js';
import { Transcript } from './transcript.js';

/**
 * @import { Frame, Message } from '../recovery/wire.js'
 * @import { View } from './row_view.js'
 * @import { Row, Send } from './transcript.js'
 */

/** Distance from the end, in pixels, within which the view keeps following new text. */
const FOLLOW_WITHIN_PX = 80;

/** The rows of a pane on screen. The recovery decides which frames to paint. */
export class Messages {
  el = element('div', 'pane-messages');
  #transcript = new Transcript();
  #orphans = new Orphans((frame) => this.#change(() => this.#transcript.apply({ ...frame, parent_call_id: undefined })));
  #rows;
  #sends;
  #gated = false;
  #follow = new Follow(this.el, FOLLOW_WITHIN_PX);
  #empty = element('div', 'empty-state', 'Loading messages…');

  /**
   * @param {(action: 'rewind' | 'edit', turns: number, text: string) => void} onAction called in the task of the click, even if gated
   * @param {(entry: Row | Send) => View} viewOf creates the view of an entry
   */
  constructor(onAction, viewOf) {
    const newView = (/** @type {Row | Send} */ entry) => {
      const view = viewOf(entry);
      this.#lookGated(view.el);
      return view;
    };
    const endOfRows = document.createComment('');
    this.#rows = new Entries(this.#empty, newView);
    this.#sends = new Entries(endOfRows, newView);
    this.el.setAttribute('role', 'log');
    this.el.setAttribute('aria-label', 'Messages');
    this.el.tabIndex = 0;
    this.el.append(this.#empty, endOfRows);
    this.el.addEventListener('click', (event) => {
      const button = event.target instanceof Element && event.target.closest('.msg-action-btn');
      const id = Number(button && /** @type {HTMLElement | null} */ (button.closest('.msg.user'))?.dataset.entry);
      const row = this.#transcript.rows.find((row) => row.id === id);
      if (!button || row?.kind !== 'user') return;
      const action = button.querySelector('.icon-edit') ? 'edit' : 'rewind';
      onAction(action, this.#transcript.turnsFrom(id), row.text);
    });
  }

  /** How many rows are being streamed. */
  get liveRefs() {
    return this.#transcript.live ? 1 : 0;
  }

  /** Whether a send is shown that will start a turn. */
  get sending() {
    return this.#transcript.sending;
  }

  /**
   * Replaces all rows with a snapshot. A send that it does not contain yet remains, below the rows.
   * @param {readonly Message[]} messages
   * @param {boolean} busy
   */
  render(messages, busy) {
    this.#empty.replaceChildren(
      element('p', 'empty-title', 'No messages yet'),
      element('p', 'empty-hint', 'Write a message below to start.'),
    );
    this.#change(() => {
      this.#transcript.replace(messages, busy);
      const rows = rowsOf(messages);
      this.#orphans.retry((frame) => standsIn(rows, frame) || this.#transcript.apply(frame));
    });
  }

  /** Paints one frame of a row. @param {Frame} frame */
  paint(frame) {
    this.#change(() => {
      if (!this.#transcript.apply(frame)) this.#orphans.hold(frame);
      else if (frame.type === 'tool_pending') this.#orphans.retry((waiting) => this.#transcript.apply(waiting));
    });
  }

  /** Handles a frame that is not painted, because a snapshot contains its row or its row was cut. */
  passOver(/** @type {Frame} */ frame) {
    if (frame.type === 'user_turn') this.#change(() => this.#transcript.settle(frame.client_send_ids ?? []));
  }

  /** The turn has ended. */
  rest() {
    this.#change(() => this.#transcript.rest());
  }

  /** Ends the streamed row; its text so far remains. */
  endRefs() {
    this.#change(() => this.#transcript.endStreaming());
  }

  /** Shows a send at once. @param {string} id @param {string} text */
  showSend(id, text) {
    this.#change(() => this.#transcript.send(id, text));
    this.#follow.toEnd();
  }

  /** The node has accepted a send and will show it. @param {string} id @param {'accepted' | 'queued'} phase */
  sendTaken(id, phase) {
    this.#change(() => this.#transcript.taken(id, phase));
  }

  /** Removes a failed send; false if the node has shown it in the meantime, so that it did not fail. */
  dropSend(/** @type {string} */ id) {
    const shown = this.#transcript.sends.some(({ sendId }) => sendId === id);
    this.#change(() => this.#transcript.settle([id]));
    return shown;
  }

  /** Shows whether the rows' buttons are gated. They remain clickable: the handler checks the gate, not the browser. */
  setGated(/** @type {boolean} */ gated) {
    if (gated === this.#gated) return;
    this.#gated = gated;
    this.#lookGated(this.el);
  }

  /** Cancels what would paint later. */
  destroy() {
    this.#orphans.clear();
    this.#follow.cancel();
  }

  #change(/** @type {() => void} */ change) {
    this.#follow.beforeChange();
    change();
    this.#sync();
  }

  /** Updates the screen: only the rows that have changed, or all of them after a snapshot. */
  #sync() {
    const focused = this.el.contains(document.activeElement);
    const { rows, sends } = this.#transcript;
    const changed = this.#transcript.takeChanged();
    if (changed === null) this.#rows.replace(rows);
    else for (const row of changed) this.#rows.show(row);
    this.#sends.replace(sends);
    // The focused node was removed with its row: keep the keyboard focus in the list.
    if (focused && !this.el.contains(document.activeElement)) this.el.focus({ preventScroll: true });
  }

  #lookGated(/** @type {Element} */ within) {
    for (const button of within.querySelectorAll('.msg-action-btn')) {
      button.setAttribute('aria-disabled', String(this.#gated));
    }
  }
}
