import { batchOf, begun, findNewest, freshId, recorded, recordedSteps, withCall, withChunk, withResult } from './calls.js';
import { RowList } from './row_list.js';

/**
 * @import { Frame, Message } from '../recovery/wire.js'
 * @import { Batch, Call } from './calls.js'
 *
 * The content of a pane, as values: a changed entry is another object with the same `id`.
 * @typedef {{id: number, kind: 'user', rowId: string | null, text: string}} UserRow
 * @typedef {{id: number, kind: 'text', rowId: string | null, text: string, streaming: boolean}} TextRow
 * @typedef {{id: number, kind: 'notice', rowId: null, text: string, failed: boolean}} Notice
 * @typedef {UserRow | TextRow | Batch | Notice} Row
 * @typedef {{id: number, kind: 'send', sendId: string, text: string, phase: 'sending' | 'accepted' | 'queued'}} Send
 */

/**
 * The rows of a pane and, below them, the sends that the node has not shown yet. It relies on the order of the frames;
 * the recovery decides which frames to apply.
 */
export class Transcript {
  #rows = new RowList();
  /** A snapshot has replaced all rows since `takeChanged()`. */
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
   * any row may have been moved or removed.
   * @returns {readonly Row[] | null}
   */
  takeChanged() {
    const changed = this.#rows.takeChanged();
    const replaced = this.#replaced;
    this.#replaced = false;
    return replaced ? null : changed;
  }

  /** Whether a send that has not been shown will start a turn; a queued one waits for the running turn. */
  get sending() {
    return this.sends.some(({ phase }) => phase !== 'queued');
  }

  /**
   * Replaces all rows with a snapshot. A row that is in both keeps its `id`.
   * @param {readonly Message[]} messages
   * @param {boolean} busy whether a turn runs; after it, queued sends are processed
   */
  replace(messages, busy) {
    const previous = new Map(this.rows.map((row) => [keyOf(row), row]));
    this.#rows = new RowList();
    this.#replaced = true;
    for (const message of messages) this.#read(message);
    this.rows.forEach((_, at) => this.#rows.change(at, (row) => successor(previous.get(keyOf(row)), row)));
    // A missing accepted send was cut, or its row will arrive in the stream; the same for a queued one if no turn runs.
    this.sends = this.sends.filter(({ phase }) => phase === 'sending' || (phase === 'queued' && busy));
  }

  /**
   * Applies one frame.
   * @param {Frame} frame
   * @returns {boolean} false if it belongs to an agent whose call is unknown; then nothing has changed
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

  /** Ends the streamed row; its text so far remains. */
  endStreaming() {
    this.#rows.changeLive((row) => ({ ...row, streaming: false }));
  }

  /** Shows a send at once. @param {string} sendId @param {string} text */
  send(sendId, text) {
    this.sends = [...this.sends, { id: freshId(), kind: 'send', sendId, text, phase: 'sending' }];
  }

  /** The node has accepted a send and will show it. @param {string} sendId @param {'accepted' | 'queued'} phase */
  taken(sendId, phase) {
    this.sends = this.sends.map((send) => (send.sendId === sendId ? { ...send, phase } : send));
  }

  /** No turn runs: an accepted send that is not shown was cut, its turn unseen. A queued one is still pending. */
  rest() {
    this.sends = this.sends.filter(({ phase }) => phase !== 'accepted');
  }

  /** Removes sends that the node has shown, or that failed. @param {readonly string[]} sendIds */
  settle(sendIds) {
    this.sends = this.sends.filter(({ sendId }) => !sendIds.includes(sendId));
  }

  /** The number of user turns from an entry to the end. @param {number} id */
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
   * Changes the text of the streamed row; starts to stream this row if another one was streamed.
   * @param {string | null} rowId
   * @param {(text: string) => string} change
   */
  #text(rowId, change) {
    if (this.live?.rowId !== rowId) this.#begin(rowId);
    this.#rows.changeLive((row) => ({ ...row, text: change(row.text) }));
  }

  /** Starts to stream a row: a new one, or one that an earlier connection has left. */
  #begin(/** @type {string | null} */ rowId) {
    this.endStreaming();
    const left = rowId !== null && this.#rows.changeText(rowId, (row) => ({ ...row, streaming: true }));
    if (!left) this.#add({ id: freshId(), kind: 'text', rowId, text: '', streaming: true });
  }

  /** A frame of a call of the turn's own message. @param {Frame} frame */
  #ofTurn(frame) {
    if (frame.type === 'tool_pending') {
      this.#add(batchOf(frame.row_id ?? null, (frame.items ?? []).map(begun)));
    } else if (frame.call_id) {
      this.#call(frame.call_id, frame.row_id ?? null, frame.name ?? 'tool', (call) => changed(call, frame));
    }
    return true;
  }

  /** A frame of a call of an agent. @param {string} parent @param {Frame} frame */
  #ofAgent(parent, frame) {
    const rowId = frame.row_id ?? null;
    if (this.#find(parent, rowId) === null) return false;
    this.#call(parent, rowId, '', (call) => withStep(call, frame));
    return true;
  }

  /**
   * Changes the call of this tool row; a call that no frame has announced gets a batch of its own.
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

  /** The newest call of this id; null if it belongs to another tool row: then the id was used again. */
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

/** A row before a user turn: a call without a result by then will never get one. @param {Row} row @returns {Row} */
function interrupted(row) {
  if (row.kind !== 'batch' || !row.calls.some(({ state }) => state === 'running')) return row;
  const settle = (/** @type {Call} */ call) => /** @type {Call} */ ({ ...call, state: 'interrupted' });
  return { ...row, calls: row.calls.map((call) => (call.state === 'running' ? settle(call) : call)) };
}

/** The key that a row of a snapshot shares with the same row on screen. @param {Row} row */
function keyOf({ kind, rowId }) {
  return `${kind} ${rowId}`;
}

/**
 * A row of a snapshot, with the `id` of the same row on screen.
 * @param {Row | undefined} old
 * @param {Row} row
 * @returns {Row}
 */
function successor(old, row) {
  if (!old || row.rowId === null) return row;
  return old.kind === 'batch' && row.kind === 'batch' ? keepingProgress(old, row) : { ...row, id: old.id };
}

/**
 * A batch of a snapshot, which contains no output of running calls: what was seen of them is kept.
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
