import { rowsOf, standsIn } from '../recovery/rows.js';
import { element } from './dom.js';
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
  /** @type {Map<number, {view: View, shown: Row | Send}>} */
  #views = new Map();
  #gated = false;
  #newView;
  #empty = element('div', 'empty-state', 'Loading the messages');

  /**
   * @param {(action: 'rewind' | 'edit', turns: number, text: string) => void} onAction called in the click's own task, whether gated or not
   * @param {(entry: Row | Send) => View} viewOf makes what shows an entry of this kind
   */
  constructor(onAction, viewOf) {
    this.#newView = viewOf;
    this.el.setAttribute('role', 'log');
    this.el.setAttribute('aria-label', 'Messages');
    this.el.tabIndex = 0;
    this.el.append(this.#empty);
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
    this.#toEnd();
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
  }

  #change(/** @type {() => void} */ change) {
    const { scrollHeight, scrollTop, clientHeight } = this.el;
    const follow = scrollHeight - scrollTop - clientHeight < FOLLOW_WITHIN_PX;
    change();
    this.#sync();
    if (follow) this.#toEnd();
  }

  /** Brings the screen to the transcript; nodes of entries that stay are kept, with their focus and selection. */
  #sync() {
    const entries = [...this.#transcript.rows, ...this.#transcript.sends];
    const ids = new Set(entries.map(({ id }) => id));
    const focused = this.el.contains(document.activeElement);
    for (const [id, { view }] of this.#views) {
      if (ids.has(id)) continue;
      view.el.remove();
      this.#views.delete(id);
    }
    let before = this.#empty.nextSibling;
    for (const entry of entries) {
      const { el } = this.#viewOf(entry);
      if (el === before) before = before.nextSibling;
      else this.el.insertBefore(el, before);
    }
    // The focused node is gone with its row; from here the keyboard goes on where it was.
    if (focused && !this.el.contains(document.activeElement)) this.el.focus({ preventScroll: true });
  }

  /** @param {Row | Send} entry */
  #viewOf(entry) {
    const standing = this.#views.get(entry.id);
    if (standing?.shown === entry) return standing.view;
    const view = standing?.view ?? this.#newView(entry);
    view.show(entry);
    if (!standing) this.#lookGated(view.el);
    this.#views.set(entry.id, { view, shown: entry });
    return view;
  }

  #lookGated(/** @type {Element} */ within) {
    for (const button of within.querySelectorAll('.msg-action-btn')) {
      button.setAttribute('aria-disabled', String(this.#gated));
    }
  }

  #toEnd() {
    this.el.scrollTop = this.el.scrollHeight;
  }
}
