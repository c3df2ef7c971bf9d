import { batchOf, begun, findNewest, freshId, recorded, recordedSteps, withCall, withChunk, withResult } from './calls.js';
import { RowList } from './row_list.js';

/**
 * @import { Frame, Message } from '../recovery/wire.js'
 * @import { Batch, Call } from './calls.js'
 *
 * What a pane shows, as values: an entry that has changed is another object with the same `id`.
 * @typedef {{id: number, kind: 'user', rowId: string | null, text: string}} UserRow
 * @typedef {{id: number, kind: 'text', rowId: string | null, text: string, streaming: boolean}} TextRow
 * @typedef {{id: number, kind: 'notice', rowId: null, text: string, failed: boolean}} Notice
 * @typedef {UserRow | TextRow | Batch | Notice} Row
 * @typedef {{id: number, kind: 'send', sendId: string, text: string, phase: 'sending' | 'accepted' | 'queued'}} Send
 */

/**
 * The rows of a pane and, below them, the sends that the node has not shown yet. It trusts the order of what it is
 * told: which frames to apply at all is decided by the recovery.
 */
export class Transcript {
  #rows = new RowList();
  /** A snapshot has put other rows in place of all since `takeChanged()`. */
  #replaced = false;
  /** @type {readonly Send[]} */
  sends = [];

  get rows() {
    return this.#rows.all;
  }

  /** The row whose text is being streamed, if there is one. */
  get live() {
    return this.#rows.live;
  }

  /**
   * The rows that were added or changed since the last time, added ones in their order; null after a snapshot, when
   * any row may have moved or be gone.
   * @returns {readonly Row[] | null}
   */
  takeChanged() {
    const changed = this.#rows.takeChanged();
    const replaced = this.#replaced;
    this.#replaced = false;
    return replaced ? null : changed;
  }

  /** Whether a turn will follow from a send that has not been shown; a queued one waits for a turn to end. */
  get sending() {
    return this.sends.some(({ phase }) => phase !== 'queued');
  }

  /**
   * Puts a snapshot in place of every row. A row that stands in both keeps its `id`.
   * @param {readonly Message[]} messages
   * @param {boolean} busy whether a turn runs, after which a queued send will be taken up
   */
  replace(messages, busy) {
    const previous = new Map(this.rows.map((row) => [keyOf(row), row]));
    this.#rows = new RowList();
    this.#replaced = true;
    for (const message of messages) this.#read(message);
    this.rows.forEach((_, at) => this.#rows.change(at, (row) => successor(previous.get(keyOf(row)), row)));
    // An accepted send that is missing was cut, or its row is on its way in the stream; so with a queued one at rest.
    this.sends = this.sends.filter(({ phase }) => phase === 'sending' || (phase === 'queued' && busy));
  }

  /**
   * Applies one frame.
   * @param {Frame} frame
   * @returns {boolean} false if it belongs to an agent whose call is not known: nothing has changed then
   */
  apply(frame) {
    const rowId = frame.row_id ?? null;
    switch (frame.type) {
      case 'user_turn':
        this.settle(frame.client_send_ids ?? []);
        this.#add(userRow(rowId, frame.content));
        break;
      case 'content':
        this.#text(rowId, (text) => text + (frame.text ?? ''));
        break;
      case 'in_progress_snapshot':
        this.#text(rowId, () => frame.content ?? '');
        break;
      case 'stream_end':
        if (rowId === null || this.live?.rowId === rowId) this.endStreaming();
        break;
      case 'error':
        this.#add(notice(frame.message ?? 'The turn failed.', true));
        break;
      case 'cancelled':
        this.#add(notice('Stopped.', false));
        break;
      case 'tool_pending':
      case 'tool_output_chunk':
      case 'tool_result':
      case 'agent_context':
        return frame.parent_call_id ? this.#ofAgent(frame.parent_call_id, frame) : this.#ofTurn(frame);
    }
    return true;
  }

  /** Nothing is being streamed any more; what has come stays as it is. */
  endStreaming() {
    this.#rows.changeLive((row) => ({ ...row, streaming: false }));
  }

  /** Shows a send at once. @param {string} sendId @param {string} text */
  send(sendId, text) {
    this.sends = [...this.sends, { id: freshId(), kind: 'send', sendId, text, phase: 'sending' }];
  }

  /** The node has taken a send: it will show it. @param {string} sendId @param {'accepted' | 'queued'} phase */
  taken(sendId, phase) {
    this.sends = this.sends.map((send) => (send.sendId === sendId ? { ...send, phase } : send));
  }

  /** No turn runs: a taken send that is not shown had its turn unseen, and was cut. A queued one is still to come. */
  rest() {
    this.sends = this.sends.filter(({ phase }) => phase !== 'accepted');
  }

  /** Removes sends that were shown by the node, or failed. @param {readonly string[]} sendIds */
  settle(sendIds) {
    this.sends = this.sends.filter(({ sendId }) => !sendIds.includes(sendId));
  }

  /** How many user turns there are from an entry on. @param {number} id */
  turnsFrom(id) {
    const from = this.rows.findIndex((row) => row.id === id);
    return from < 0 ? 0 : this.rows.slice(from).filter(({ kind }) => kind === 'user').length;
  }

  /** @param {Message} message */
  #read({ role, row_id = undefined, content = '', ...rest }) {
    const rowId = row_id ?? null;
    if (role === 'user') {
      this.settle(rest.client_send_ids ?? []);
      this.#add(userRow(rowId, content));
    }
    if (role === 'assistant') {
      if (content !== '') this.#add({ id: freshId(), kind: 'text', rowId, text: content, streaming: false });
      if (rest.tool_calls?.length) this.#add(batchOf(rowId, rest.tool_calls.map(recorded)));
    }
    if (role === 'tool' && rest.tool_call_id) {
      const { tool_call_id, name = 'tool', is_error = false, agent_steps = [] } = rest;
      const steps = recordedSteps(agent_steps);
      this.#call(tool_call_id, rowId, name, (call) => ({
        ...withResult(call, { output: content, is_error }),
        steps,
      }));
    }
  }

  /** @param {Row} row */
  #add(row) {
    if (row.kind === 'user') this.#rows.changeRunning(interrupted);
    this.#rows.add(row);
  }

  /**
   * Changes the text of the streamed row, which begins if it is another than the present one.
   * @param {string | null} rowId
   * @param {(text: string) => string} change
   */
  #text(rowId, change) {
    if (this.live?.rowId !== rowId) this.#begin(rowId);
    this.#rows.changeLive((row) => ({ ...row, text: change(row.text) }));
  }

  /** Streams this row from here on: a new one, or one that an earlier connection has left. */
  #begin(/** @type {string | null} */ rowId) {
    this.endStreaming();
    const left = rowId !== null && this.#rows.changeText(rowId, (row) => ({ ...row, streaming: true }));
    if (!left) this.#add({ id: freshId(), kind: 'text', rowId, text: '', streaming: true });
  }

  /** A frame of a call that the turn's own message has made. @param {Frame} frame */
  #ofTurn(frame) {
    if (frame.type === 'tool_pending') {
      this.#add(batchOf(frame.row_id ?? null, (frame.items ?? []).map(begun)));
    } else if (frame.call_id) {
      this.#call(frame.call_id, frame.row_id ?? null, frame.name ?? 'tool', (call) => changed(call, frame));
    }
    return true;
  }

  /** A frame of a call that an agent has made. @param {string} parent @param {Frame} frame */
  #ofAgent(parent, frame) {
    const rowId = frame.row_id ?? null;
    if (this.#find(parent, rowId) === null) return false;
    this.#call(parent, rowId, '', (call) => withStep(call, frame));
    return true;
  }

  /**
   * Changes the call that a frame of this tool row is about; one that nothing has announced stands by itself.
   * @param {string} callId
   * @param {string | null} rowId
   * @param {string} name
   * @param {(call: Call) => Call} change
   */
  #call(callId, rowId, name, change) {
    const found = this.#find(callId, rowId);
    if (found === null) return this.#add(batchOf(null, [change({ ...begun({ call_id: callId, name }), rowId })]));
    const { entry, at, call } = found;
    const next = { ...change(call), rowId: rowId ?? call.rowId };
    this.#rows.change(entry, (row) => (row.kind === 'batch' ? withCall(row, at, next) : row));
  }

  /** The newest call of this id, unless it is that of another tool row: then the id has been used again. */
  #find(/** @type {string} */ callId, /** @type {string | null} */ rowId) {
    const found = findNewest(this.rows, callId);
    const free = found !== null && (rowId === null || found.call.rowId === null || found.call.rowId === rowId);
    return free ? found : null;
  }
}

/** @param {string | null} rowId @param {string} [text] @returns {UserRow} */
function userRow(rowId, text = '') {
  return { id: freshId(), kind: 'user', rowId, text };
}

/** @param {string} text @param {boolean} failed @returns {Notice} */
function notice(text, failed) {
  return { id: freshId(), kind: 'notice', rowId: null, text, failed };
}

/** @param {Call} call @param {Frame} frame */
function changed(call, frame) {
  if (frame.type === 'tool_output_chunk') return withChunk(call, frame.chunk ?? '');
  return withResult(call, frame);
}

/** An agent's call after a frame of one of its steps. @param {Call} agent @param {Frame} frame @returns {Call} */
function withStep(agent, frame) {
  if (frame.type === 'agent_context') {
    return { ...agent, context: { prompt: frame.prompt_tokens ?? 0, window: frame.context_window ?? 0 } };
  }
  if (frame.type === 'tool_pending') {
    return { ...agent, steps: [...agent.steps, batchOf(null, (frame.items ?? []).map(begun))] };
  }
  const callId = frame.call_id ?? '';
  const found = findNewest(agent.steps, callId);
  if (found === null) {
    const call = changed(begun({ call_id: callId, name: frame.name ?? 'tool' }), frame);
    return { ...agent, steps: [...agent.steps, batchOf(null, [call])] };
  }
  const { entry, at, call } = found;
  const steps = agent.steps.map((step, index) => (index === entry ? withCall(step, at, changed(call, frame)) : step));
  return { ...agent, steps };
}

/** A row from before a user turn: what has not answered by then never will. @param {Row} row @returns {Row} */
function interrupted(row) {
  if (row.kind !== 'batch' || !row.calls.some(({ state }) => state === 'running')) return row;
  const settle = (/** @type {Call} */ call) => /** @type {Call} */ ({ ...call, state: 'interrupted' });
  return { ...row, calls: row.calls.map((call) => (call.state === 'running' ? settle(call) : call)) };
}

/** What a row of a snapshot has in common with the same row on screen. @param {Row} row */
function keyOf({ kind, rowId }) {
  return `${kind} ${rowId}`;
}

/**
 * The row of a snapshot, under the `id` of the same row on screen.
 * @param {Row | undefined} old
 * @param {Row} row
 * @returns {Row}
 */
function successor(old, row) {
  if (!old || row.rowId === null) return row;
  return old.kind === 'batch' && row.kind === 'batch' ? keepingProgress(old, row) : { ...row, id: old.id };
}

/**
 * A batch of a snapshot, which holds nothing of the calls that still run: what has been seen of them stays.
 * @param {Batch} old
 * @param {Batch} batch
 * @returns {Batch}
 */
function keepingProgress(old, batch) {
  const calls = batch.calls.map((call, at) => {
    const before = old.calls[at];
    if (before?.callId !== call.callId) return call;
    if (call.state === 'running' && before.state === 'running') return before;
    const { header, preview, context } = before;
    return { ...call, header, preview, context };
  });
  return { ...batch, id: old.id, calls };
}
