/**
 * A minimal node: one workstream, its stored rows, its ring, and the answers of the protocol's table. It does nothing
 * by itself.
 */
export class FakeNode {
  /** The stored rows. */
  rows = [];
  state = 'idle';
  connections = new Set();
  #epoch = 0;
  #revision = 0;
  #ring = [];
  #head = 0;
  #names = 0;
  /** The row that is being streamed; stored at its end. */
  #live = null;
  /** The remaining steps of the running turn. */
  #script = [];

  constructor() {
    this.restart();
  }

  get token() {
    return `${this.#epoch}.${this.#revision}`;
  }

  get busy() {
    return this.state !== 'idle';
  }

  history() {
    return structuredClone({ messages: this.rows, cursor: null, handoff_token: this.token });
  }

  /** The process dies and another one starts: memory is lost, connections break, stored rows remain. */
  restart() {
    this.#epoch += 1;
    this.#revision = 0;
    this.#ring = [];
    this.#head = 0;
    this.#live = null;
    this.#script = [];
    this.state = 'idle';
    for (const connection of this.connections) connection.broken();
  }

  /** Evicts the oldest events. */
  evict(count) {
    this.#ring.splice(0, count);
  }

  /** Admits a user row and starts its turn, which `step` then runs. */
  begin(text, sendIds, calls) {
    const row = { role: 'user', content: text, row_id: this.#name(), client_send_ids: sendIds };
    this.#admit(row);
    this.#publish({ type: 'user_turn', content: text, row_id: row.row_id, client_send_ids: sendIds });
    this.#enter('thinking');
    const asks = calls.length === 0 ? [] : [() => this.#text('I look. '), () => this.#call(calls)];
    const answers = calls.flatMap((id) => this.#answers(id));
    const end = [() => this.#text('All '), () => this.#text(`is ${text}.`), () => this.#finish([]), () => this.#enter('idle')];
    this.#script = [...asks, ...answers, ...end];
  }

  /** Runs the next step of the turn. */
  step() {
    this.#script.shift()?.();
  }

  /** Cuts the last user turns. */
  rewind(turns) {
    const users = this.rows.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
    this.rows = this.rows.slice(0, users.at(-turns) ?? 0);
    this.#revision += 1;
    this.#publish({ type: 'clear_ui', reason: 'rewind' });
  }

  /** Makes every pane read the history again. */
  resync() {
    this.#publish({ type: 'history_resync', reason: 'commit_failed' });
  }

  /** What a connection is sent up to now, or null if it is refused; from then on it is sent everything. */
  connect({ header, query, token }, connection) {
    const preamble = [{ type: 'connected' }, { type: 'status' }, { type: 'state_change', state: this.state }];
    const live = this.#live && { type: 'in_progress_snapshot', content: this.#live.content, row_id: this.#live.row_id };
    const end = (count) => ({ type: 'replay_complete', count });
    if (header === null && token !== null && token !== this.token) {
      return { frames: [{ data: { type: 'history_resync', reason: 'handoff_mismatch' } }], ends: true };
    }
    this.connections.add(connection);
    const cursor = header ?? query;
    const slice = this.#after(cursor);
    const before = cursor === null ? (token === null ? [{ type: 'clear_ui' }] : []) : [{ type: 'replay_truncated' }];
    const frames = slice
      ? [...preamble.map((data) => ({ data })), ...slice, { data: end(slice.length) }]
      : [...before, ...preamble, ...(live ? [live] : []), end(0)].map((data) => ({ data }));
    return { frames, ends: false };
  }

  /** The events after a cursor, or null if they cannot be replayed. */
  #after(cursor) {
    const [epoch, seq] = (cursor ?? '').split('-').map(Number);
    if (cursor === null || epoch !== this.#epoch || seq > this.#head) return null;
    const first = this.#head - this.#ring.length;
    return seq < first ? null : this.#ring.slice(seq - first);
  }

  #call(ids) {
    const tool_calls = ids.map((id) => ({ id, name: 'bash', arguments: JSON.stringify({ command: `run ${id}` }) }));
    const row_id = this.#finish(tool_calls);
    const items = ids.map((id) => ({ call_id: id, name: 'bash', header: 'bash', preview: `run ${id}` }));
    this.#enter('running');
    this.#publish({ type: 'tool_pending', row_id, items });
  }

  #answers(id) {
    let row_id;
    const result = (output) => ({ call_id: id, name: 'bash', output, is_error: false, row_id });
    return [
      () => this.#publish({ type: 'tool_output_chunk', call_id: id, chunk: 'so ', row_id: (row_id = this.#name()) }),
      () => this.#publish({ type: 'tool_output_chunk', call_id: id, chunk: 'far', row_id }),
      () => this.#publish({ type: 'tool_result', ...result('so far') }),
      () => {
        this.#admit({ role: 'tool', tool_call_id: id, name: 'bash', content: 'so far, and well', is_error: false, row_id });
        this.#publish({ type: 'tool_result', ...result('so far, and well'), accepted: true });
      },
    ];
  }

  #text(text) {
    this.#live ??= { role: 'assistant', content: '', row_id: this.#name() };
    this.#live.content += text;
    this.#publish({ type: 'content', text, row_id: this.#live.row_id });
  }

  #finish(tool_calls) {
    const row = { ...this.#live, tool_calls };
    this.#live = null;
    this.#admit(row);
    this.#publish({ type: 'stream_end', row_id: row.row_id });
    return row.row_id;
  }

  #admit(row) {
    this.rows = [...this.rows, row];
    this.#revision += 1;
  }

  #enter(state) {
    this.state = state;
    this.#publish({ type: 'state_change', state });
  }

  #publish(data) {
    this.#head += 1;
    const frame = { id: `${this.#epoch}-${this.#head}`, data };
    this.#ring.push(frame);
    for (const connection of this.connections) connection.push(frame);
  }

  /** Row ids are unique, also across restarts. */
  #name() {
    this.#names += 1;
    return `r${this.#names}`;
  }
}
