import { element, icon } from './dom.js';

/** @import { Frame, Message } from '../recovery/wire.js' */

/** Distance from the end, in pixels, within which the view keeps following new text. */
const FOLLOW_WITHIN_PX = 80;

const REWIND_ICON = 'M3 3v4h4M3.4 7A5.2 5.2 0 1 1 3 10.2';

/** The rows of a pane. It paints what it is told; whether to paint is decided elsewhere. */
export class Messages {
  el = element('div', 'pane-messages');
  /** The row that is being streamed. @type {{rowId: string | null, row: HTMLElement, text: Text} | null} */
  #live = null;
  /** Sends shown before the node has shown them, by their `client_send_id`. @type {Map<string, HTMLElement>} */
  #optimistic = new Map();
  #gated = false;
  #empty = element('div', 'empty-state', 'Loading the messages');

  /** @param {(turns: number) => void} onRewind called in the click's own task, whether gated or not */
  constructor(onRewind) {
    this.el.setAttribute('role', 'log');
    this.el.setAttribute('aria-label', 'Messages');
    this.el.tabIndex = 0;
    this.el.append(this.#empty);
    this.el.addEventListener('click', (event) => {
      const button = event.target instanceof Element && event.target.closest('.msg-action-btn');
      const row = button && button.closest('.msg.user');
      if (!row) return;
      const rows = [...this.el.querySelectorAll('.msg.user')];
      onRewind(rows.length - rows.indexOf(row));
    });
  }

  /** How many rows are being streamed. */
  get liveRefs() {
    return this.#live === null ? 0 : 1;
  }

  /** How many sends are shown that the node has not shown yet. */
  get unsettled() {
    return this.#optimistic.size;
  }

  /**
   * Puts a snapshot in place of every row. A send that it does not hold yet stays, below it.
   * @param {readonly Message[]} messages
   */
  render(messages) {
    this.endRefs();
    this.#settle(messages.flatMap((message) => message.client_send_ids ?? []));
    // An accepted send that is missing here was cut, or its row is on its way in the stream.
    for (const [id, row] of this.#optimistic) if (row.dataset.accepted) this.#settle([id]);
    const rows = messages.flatMap((message) => this.#rowOf(message) ?? []);
    this.#empty.replaceChildren(
      element('p', 'empty-title', 'Nothing here yet'),
      element('p', 'empty-hint', 'Write the first message below.'),
    );
    const focused = this.el.contains(document.activeElement);
    this.#keepingEnd(() => this.el.replaceChildren(this.#empty, ...rows, ...this.#optimistic.values()));
    // The focused button is gone with its row; from here the keyboard goes on where it was.
    if (focused) this.el.focus({ preventScroll: true });
  }

  /** Paints one frame of a row. @param {Frame} frame */
  paint(frame) {
    this.#keepingEnd(() => {
      const rowId = frame.row_id ?? null;
      switch (frame.type) {
        case 'user_turn':
          this.#settle(frame.client_send_ids ?? []);
          this.el.append(this.#userRow(frame.content ?? '', rowId));
          break;
        case 'content':
          this.#stream(rowId).appendData(frame.text ?? '');
          break;
        case 'in_progress_snapshot':
          this.#stream(rowId, this.#find(rowId)).data = frame.content ?? '';
          break;
        case 'stream_end':
          if (rowId === null || this.#live?.rowId === rowId) this.endRefs();
          break;
        case 'error':
          this.el.append(element('div', 'msg notice', frame.message ?? 'The turn failed.'));
          break;
        case 'cancelled':
          this.el.append(element('div', 'msg notice', 'Stopped.'));
          break;
      }
    });
  }

  /** Takes note of a frame that is not painted, since a snapshot shows its row or its row was cut. */
  passOver(/** @type {Frame} */ frame) {
    if (frame.type === 'user_turn') this.#settle(frame.client_send_ids ?? []);
  }

  /** Nothing is being streamed any more; what has come stays as it is. */
  endRefs() {
    delete this.#live?.row.dataset.streaming;
    this.#live = null;
  }

  /** Shows a send at once. @param {string} id @param {string} text */
  showOptimistic(id, text) {
    const row = this.#userRow(text, null);
    row.dataset.clientSendId = id;
    this.#optimistic.set(id, row);
    this.el.append(row);
    this.#toEnd();
  }

  /** The node has taken a send: it will show it. @param {string} id */
  acceptOptimistic(id) {
    const row = this.#optimistic.get(id);
    if (row) row.dataset.accepted = 'true';
  }

  /** Removes a send that failed; false if the node has shown it in the meantime, so that it did not. */
  dropOptimistic(/** @type {string} */ id) {
    const standing = this.#optimistic.has(id);
    this.#settle([id]);
    return standing;
  }

  /** Shows whether the rows' buttons act. They stay clickable: the handler, not the browser, keeps the gate. */
  setGated(/** @type {boolean} */ gated) {
    if (gated === this.#gated) return;
    this.#gated = gated;
    for (const button of this.el.querySelectorAll('.msg-action-btn')) this.#lookGated(button);
  }

  /** @param {Message} message */
  #rowOf({ role, content = '', row_id = undefined }) {
    if (role === 'user') return this.#userRow(content, row_id ?? null);
    if (role === 'assistant' && content !== '') return assistantRow(row_id ?? null, new Text(content));
    return null;
  }

  /** @param {string} text @param {string | null} rowId null for a send that has no row yet, and so no rewind */
  #userRow(text, rowId) {
    const row = element('div', 'msg user', element('div', 'msg-user-text', text));
    if (rowId === null) return row;
    row.dataset.rowId = rowId;
    const button = element('button', 'msg-action-btn', icon('icon-rewind', REWIND_ICON));
    button.type = 'button';
    button.title = 'Rewind to before this message';
    button.setAttribute('aria-label', button.title);
    this.#lookGated(button);
    row.append(element('div', 'msg-actions', button));
    return row;
  }

  #lookGated(/** @type {Element} */ button) {
    button.setAttribute('aria-disabled', String(this.#gated));
  }

  /**
   * The text of the streamed row, begun if it is another than the present one.
   * @param {string | null} rowId
   * @param {HTMLElement | null} [begun] a bubble of that row, left by an earlier connection
   */
  #stream(rowId, begun = null) {
    if (this.#live !== null && this.#live.rowId === rowId) return this.#live.text;
    this.endRefs();
    const text = new Text();
    const row = begun ?? assistantRow(rowId, text);
    if (begun) begun.querySelector('.msg-body')?.replaceChildren(text);
    else this.el.append(row);
    row.dataset.streaming = 'true';
    this.#live = { rowId, row, text };
    return text;
  }

  /** @param {string | null} rowId @returns {HTMLElement | null} */
  #find(rowId) {
    return rowId === null ? null : this.el.querySelector(`.msg.assistant[data-row-id="${CSS.escape(rowId)}"]`);
  }

  #settle(/** @type {readonly string[]} */ ids) {
    for (const id of ids) {
      this.#optimistic.get(id)?.remove();
      this.#optimistic.delete(id);
    }
  }

  #keepingEnd(/** @type {() => void} */ change) {
    const { scrollHeight, scrollTop, clientHeight } = this.el;
    const follow = scrollHeight - scrollTop - clientHeight < FOLLOW_WITHIN_PX;
    change();
    if (follow) this.#toEnd();
  }

  #toEnd() {
    this.el.scrollTop = this.el.scrollHeight;
  }
}

/** @param {string | null} rowId @param {Text} text */
function assistantRow(rowId, text) {
  const row = element('div', 'msg assistant', element('div', 'msg-body', text));
  if (rowId !== null) row.dataset.rowId = rowId;
  return row;
}
