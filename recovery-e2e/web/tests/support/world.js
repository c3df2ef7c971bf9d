import { Transcript } from '../../static/pane/transcript.js';
import { Recovery } from '../../static/recovery/core.js';
import { Quiesce } from '../../static/recovery/quiesce.js';
import { Clock, settle } from './clock.js';
import { FakeNode } from './node.js';
import { FakePage } from './page.js';

/** One pane before one node: the real recovery and the real transcript, all else a fake. */
export class World {
  constructor(t, policy = new Quiesce()) {
    this.clock = Clock.install(t);
    this.node = new FakeNode();
    this.page = FakePage.install(t, this.node);
    this.transcript = new Transcript();
    this.recovery = new Recovery('w', {
      render: ({ messages }) => this.transcript.replace(messages, this.recovery.busy),
      paint: (frame) => this.transcript.apply(frame),
      passOver: (frame) => frame.type === 'user_turn' && this.transcript.settle(frame.client_send_ids),
      rested: () => this.transcript.rest(),
      liveRefs: () => (this.transcript.live ? 1 : 0),
      endRefs: () => this.transcript.endStreaming(),
      sending: () => this.transcript.sending,
      changed: () => {},
    }, policy);
  }

  /** The event source that is not closed, if there is one. */
  get source() {
    return this.page.sources[0];
  }

  /** The texts of the user rows on screen. */
  get users() {
    return this.transcript.rows.filter(({ kind }) => kind === 'user').map(({ text }) => text);
  }

  /** A pane that has loaded what is stored, and whose stream has caught up. */
  async open() {
    void this.recovery.connect();
    await this.answer();
    await this.deliver();
  }

  /** Lets through everything that the network has for the page, except answers to requests. */
  async deliver() {
    for (let source; (source = this.page.sources.find(({ waiting }) => waiting)); ) {
      source.deliver();
      await settle();
    }
  }

  /** Reads and answers the requests that are under way. */
  async answer() {
    await settle();
    for (const request of [...this.page.requests]) {
      this.page.read(request);
      this.page.answer(request);
    }
    await settle();
  }

  /** Fails the requests that are under way. */
  async fail() {
    await settle();
    for (const request of [...this.page.requests]) this.page.fail(request, 500);
    await settle();
  }

  /** A whole turn, and whatever the network brings of it. */
  async turn(text, sendIds = [], calls = []) {
    this.node.begin(text, sendIds, calls);
    while (this.node.busy) this.node.step();
    await this.deliver();
  }
}

/** The rows without what only tells them apart, and without what no history holds: the output of an open call. */
export function plain({ rows, sends }) {
  const open = ({ state }) => state === 'running' || state === 'interrupted';
  const closed = (call) => (open(call) ? { ...call, output: '', rowId: null } : call);
  const strip = ({ id, ...row }) => (row.calls ? { ...row, calls: row.calls.map(closed) } : row);
  return { rows: rows.map(strip), sends: sends.map(strip) };
}
