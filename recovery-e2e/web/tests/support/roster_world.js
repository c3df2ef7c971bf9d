import { after } from '../../static/recovery/roster.js';
import { RosterStream } from '../../static/recovery/roster_stream.js';
import { Clock, settle } from './clock.js';
import { FakePage } from './page.js';

/** The roster of a node: the loaded workstreams, and the ring of the global lane. */
export class RosterNode {
  loaded = new Map();
  connections = new Set();
  /** The cursors that a truncated replay has answered. */
  dead = new Set();
  #epoch = 1;
  #ring = [];
  #head = 0;

  create(ws_id, parent_ws_id = null) {
    const entry = { ws_id, name: ws_id, state: 'idle', kind: 'interactive', parent_ws_id };
    this.loaded.set(ws_id, entry);
    this.#publish({ type: 'ws_created', ...entry });
  }

  enter(ws_id, state) {
    this.loaded.set(ws_id, { ...this.loaded.get(ws_id), state });
    this.#publish({ type: 'ws_state', ws_id, state });
  }

  rename(ws_id, name) {
    this.loaded.set(ws_id, { ...this.loaded.get(ws_id), name });
    this.#publish({ type: 'ws_rename', ws_id, name });
  }

  close(ws_id) {
    const { name } = this.loaded.get(ws_id);
    this.loaded.delete(ws_id);
    this.#publish({ type: 'ws_closed', ws_id, name, reason: 'closed' });
  }

  aggregate() {
    this.#publish({ type: 'aggregate', total_count: this.loaded.size, active_count: 0 });
  }

  /** The process dies and another one starts, with nothing loaded. */
  restart() {
    this.#epoch += 1;
    this.#ring = [];
    this.#head = 0;
    this.loaded = new Map();
    this.sever();
  }

  sever() {
    for (const connection of [...this.connections]) connection.broken();
  }

  /** Evicts all events. */
  evict() {
    this.#ring = [];
  }

  /** What a connection is sent up to now; from then on it is sent everything. */
  connect({ header, query }, connection) {
    this.connections.add(connection);
    const cursor = header ?? query;
    const slice = this.#after(cursor);
    const end = (count) => ({ data: { type: 'replay_complete', count } });
    if (slice) return { frames: [...slice, end(slice.length)], ends: false };
    const snapshot = { data: { type: 'node_snapshot', node_id: 'n', workstreams: [...this.loaded.values()] } };
    if (cursor === null) return { frames: [snapshot, end(0)], ends: false };
    this.dead.add(cursor);
    return { frames: [{ data: { type: 'replay_truncated', reason: 'boot_epoch' } }, snapshot, end(0)], ends: false };
  }

  #after(cursor) {
    const [epoch, seq] = (cursor ?? '').split('-').map(Number);
    const first = this.#head - this.#ring.length;
    if (cursor === null || epoch !== this.#epoch || seq > this.#head || seq < first) return null;
    return this.#ring.slice(seq - first);
  }

  #publish(data) {
    this.#head += 1;
    const frame = { id: `${this.#epoch}-${this.#head}`, data };
    this.#ring.push(frame);
    for (const connection of this.connections) connection.push(frame);
  }
}

/** One dashboard and one node: the real policy; everything else is a fake. */
export class RosterWorld {
  roster = new Map();
  refusals = 0;

  constructor(t) {
    this.clock = Clock.install(t);
    this.node = new RosterNode();
    this.page = FakePage.install(t, this.node);
    this.stream = new RosterStream({
      frame: (frame) => { this.roster = after(this.roster, frame); },
      refused: () => { this.refusals += 1; },
      changed: () => {},
    });
  }

  /** The event source that is not closed, if there is one. */
  get source() {
    return this.page.sources[0];
  }

  /** The cursor in the address of that source. */
  get presented() {
    return this.source.query.get('last_event_id');
  }

  /** Delivers everything in flight to the page. */
  async deliver() {
    for (let source; (source = this.page.sources.find(({ waiting }) => waiting)); ) {
      source.deliver();
      await settle();
    }
  }

  /** Opens a dashboard that has caught up with two workstreams, and has a cursor. */
  async open() {
    this.node.create('keeper');
    this.node.create('ghost');
    this.stream.open();
    await this.deliver();
    this.node.enter('ghost', 'thinking');
    await this.deliver();
  }

  /** The browser redials, and is refused with a status. */
  refuse() {
    this.node.sever();
    this.source.refused();
  }
}
