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

/** The rows of a pane on screen. It paints what it is told; whether to paint is decided elsewhere. */
export class Messages {
  el = element('div', 'pane-messages');
  #transcript = new Transcript();
  #orphans = new Orphans((frame) => this.#change(() => this.#transcript.apply({ ...frame, parent_call_id: undefined })));
  #rows;
  #sends;
  #gated = false;
  #follow = new Follow(this.el, FOLLOW_WITHIN_PX);
  #empty = element('div', 'empty-state', 'Loading the messages');

  /**
   * @param {(action: 'rewind' | 'edit', turns: number, text: string) => void} onAction called in the click's own task, whether gated or not
   * @param {(entry: Row | Send) => View} viewOf makes what shows an entry of this kind
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

  /** Whether a send is shown from which a turn will follow. */
  get sending() {
    return this.#transcript.sending;
  }

  /**
   * Puts a snapshot in place of every row. A send that it does not hold yet stays, below it.
   * @param {readonly Message[]} messages
   * @param {boolean} busy
   */
  render(messages, busy) {
    this.#empty.replaceChildren(
      element('p', 'empty-title', 'Nothing here yet'),
      element('p', 'empty-hint', 'Write the first message below.'),
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

  /** Takes note of a frame that is not painted, since a snapshot shows its row or its row was cut. */
  passOver(/** @type {Frame} */ frame) {
    if (frame.type === 'user_turn') this.#change(() => this.#transcript.settle(frame.client_send_ids ?? []));
  }

  /** No turn runs any more. */
  rest() {
    this.#change(() => this.#transcript.rest());
  }

  /** Nothing is being streamed any more; what has come stays as it is. */
  endRefs() {
    this.#change(() => this.#transcript.endStreaming());
  }

  /** Shows a send at once. @param {string} id @param {string} text */
  showSend(id, text) {
    this.#change(() => this.#transcript.send(id, text));
    this.#follow.toEnd();
  }

  /** The node has taken a send: it will show it. @param {string} id @param {'accepted' | 'queued'} phase */
  sendTaken(id, phase) {
    this.#change(() => this.#transcript.taken(id, phase));
  }

  /** Removes a send that failed; false if the node has shown it in the meantime, so that it did not. */
  dropSend(/** @type {string} */ id) {
    const standing = this.#transcript.sends.some(({ sendId }) => sendId === id);
    this.#change(() => this.#transcript.settle([id]));
    return standing;
  }

  /** Shows whether the rows' buttons act. They stay clickable: the handler, not the browser, keeps the gate. */
  setGated(/** @type {boolean} */ gated) {
    if (gated === this.#gated) return;
    this.#gated = gated;
    this.#lookGated(this.el);
  }

  /** Ends what would paint later by itself. */
  destroy() {
    this.#orphans.clear();
    this.#follow.cancel();
  }

  #change(/** @type {() => void} */ change) {
    this.#follow.beforeChange();
    change();
    this.#sync();
  }

  /** Brings the screen to the transcript: of its rows only those that have changed, unless a snapshot came. */
  #sync() {
    const focused = this.el.contains(document.activeElement);
    const { rows, sends } = this.#transcript;
    const changed = this.#transcript.takeChanged();
    if (changed === null) this.#rows.replace(rows);
    else for (const row of changed) this.#rows.show(row);
    this.#sends.replace(sends);
    // The focused node is gone with its row; from here the keyboard goes on where it was.
    if (focused && !this.el.contains(document.activeElement)) this.el.focus({ preventScroll: true });
  }

  #lookGated(/** @type {Element} */ within) {
    for (const button of within.querySelectorAll('.msg-action-btn')) {
      button.setAttribute('aria-disabled', String(this.#gated));
    }
  }
}
