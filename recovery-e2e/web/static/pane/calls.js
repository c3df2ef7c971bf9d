/**
 * @import { Item, Step } from '../recovery/wire.js'
 *
 * One call of a tool. `interrupted`: a later turn has begun, and there will be no result.
 * @typedef {'running' | 'done' | 'failed' | 'interrupted'} CallState
 *
 * `rowId` names the tool row that holds, or will hold, the result; null until the first frame of it.
 * @typedef {{
 *   callId: string, rowId: string | null, name: string, header: string, preview: string, state: CallState,
 *   output: string, clipped: number, steps: readonly Batch[], context: Context | null,
 * }} Call
 * @typedef {{prompt: number, window: number}} Context tokens that an agent's last model call used, and their limit
 *
 * Calls that one message has made; they run in parallel. `rowId` is the row of that message.
 * @typedef {{id: number, kind: 'batch', rowId: string | null, calls: readonly Call[]}} Batch
 */

/** Characters of a call's output that a pane keeps, from its end: enough to read, and a limit for the page. */
export const OUTPUT_CHARS = 64 * 1024;

/** The titles that the node gives to live calls of these tools; for other tools it is the name. */
const HEADERS = new Map([['task_agent', 'agent']]);

let lastId = 0;

/** A unique id for an entry of a pane. */
export function freshId() {
  lastId += 1;
  return lastId;
}

/**
 * @param {string | null} rowId
 * @param {readonly Call[]} calls
 * @returns {Batch}
 */
export function batchOf(rowId, calls) {
  return { id: freshId(), kind: 'batch', rowId, calls };
}

/** A call that has begun. @param {Item} item @returns {Call} */
export function begun({ call_id, name, header, preview }) {
  return {
    callId: call_id, rowId: null, name, header: header || name, preview: preview ?? '', state: 'running',
    output: '', clipped: 0, steps: [], context: null,
  };
}

/** A call of the history, with the titles of its live frame. @param {{id: string, name: string, arguments?: string}} call */
export function recorded({ id, name, arguments: text = '' }) {
  return begun({ call_id: id, name, header: HEADERS.get(name), preview: previewOf(text) });
}

/** @param {Call} call @param {string} chunk @returns {Call} */
export function withChunk(call, chunk) {
  return { ...call, ...clip(call.output + chunk, call.clipped) };
}

/** @param {Call} call @param {{output?: string, is_error?: boolean}} result @returns {Call} */
export function withResult(call, { output = '', is_error = false }) {
  return { ...call, ...clip(output, 0), state: is_error ? 'failed' : 'done' };
}

/** The calls that an agent has made, from its row. @param {readonly Step[]} steps @returns {Batch[]} */
export function recordedSteps(steps) {
  /** @type {Map<string, Call[]>} */
  const groups = new Map();
  for (const step of steps) {
    const call = withResult(begun(step), step);
    const group = stepOf(step.call_id);
    groups.set(group, [...(groups.get(group) ?? []), call]);
  }
  return [...groups.values()].map((calls) => batchOf(null, calls));
}

/**
 * The position of the newest call with this id. An id that a later turn uses again is another call.
 * @param {readonly {kind: string, calls?: readonly Call[]}[]} entries
 * @param {string} callId
 */
export function findNewest(entries, callId) {
  for (let entry = entries.length - 1; entry >= 0; entry -= 1) {
    const calls = entries[entry]?.calls ?? [];
    for (let at = calls.length - 1; at >= 0; at -= 1) {
      const call = calls[at];
      if (call?.callId === callId) return { entry, at, call };
    }
  }
  return null;
}

/**
 * The batch with one call changed.
 * @param {Batch} batch
 * @param {number} at
 * @param {Call} call
 * @returns {Batch}
 */
export function withCall(batch, at, call) {
  return { ...batch, calls: batch.calls.map((other, index) => (index === at ? call : other)) };
}

/** The run and step in a child's id, `{parent}::r{run}s{step}::{orig}`; an id of another form is its own step. */
function stepOf(/** @type {string} */ callId) {
  return /::(r\d+s\d+)::/.exec(callId)?.[1] ?? callId;
}

/** @param {string} text @param {number} clipped */
function clip(text, clipped) {
  const over = Math.max(0, text.length - OUTPUT_CHARS);
  return { output: text.slice(over), clipped: clipped + over };
}

/** A summary of a call, from its arguments. @param {string} text */
function previewOf(text) {
  try {
    const given = JSON.parse(text);
    return String(given.command ?? given.task ?? text);
  } catch {
    return text;
  }
}
