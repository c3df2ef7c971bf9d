import { Transcript } from '../../static/pane/transcript.js';
import { Recovery } from '../../static/recovery/core.js';
import { Quiesce } from '../../static/recovery/quiesce.js';
import { Clock, settle } from './clock.js';
import { FakeNode } from './node.js';
import { FakePage } from './page.js';

/** One pane and one node: the real recovery and transcript; everything else is a fake. */
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

  /** Loads the history and lets the stream catch up. */
  async open() {
    void this.recovery.connect();
    await this.answer();
    await this.deliver();
  }

  /** Delivers everything in flight to the page, except responses to requests. */
  async deliver() {
    for (let source; (source = this.page.sources.find(({ waiting }) => waiting)); ) {
      source.deliver();
      await settle();
    }
  }

  /** Reads and answers the requests in flight. */
  async answer() {
    await settle();
    for (const request of [...this.page.requests]) {
      this.page.read(request);
      this.page.answer(request);
    }
    await settle();
  }

  /** Fails the requests in flight. */
  async fail() {
    await settle();
    for (const request of [...this.page.requests]) this.page.fail(request, 500);
    await settle();
  }

  /** Runs a whole turn and delivers its frames. */
  async turn(text, sendIds = [], calls = []) {
    this.node.begin(text, sendIds, calls);
    while (this.node.busy) this.node.step();
    await this.deliver();
  }
}

/** The rows without their ids, and without what no history contains: the output of an open call. */
export function plain({ rows, sends }) {
  const open = ({ state }) => state === 'running' || state === 'interrupted';
  const closed = (call) => (open(call) ? { ...call, output: '', rowId: null } : call);
  const strip = ({ id, ...row }) => (row.calls ? { ...row, calls: row.calls.map(closed) } : row);
  return { rows: rows.map(strip), sends: sends.map(strip) };
}
