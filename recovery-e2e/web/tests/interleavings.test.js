import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LiveCalls } from '../static/recovery/live_calls.js';
import { Quiesce } from '../static/recovery/quiesce.js';
import { Transcript } from '../static/pane/transcript.js';
import { generator } from './support/chance.js';
import { settle } from './support/clock.js';
import { World, plain } from './support/world.js';

/** The first seed; `RECOVERY_SEED` of a failure's message tries that one alone, or the first of `RECOVERY_SEEDS`. */
const FIRST = Number(process.env.RECOVERY_SEED ?? Math.floor(Math.random() * 2 ** 31));
const SEEDS = Number(process.env.RECOVERY_SEEDS ?? (process.env.RECOVERY_SEED ? 1 : 2000));

/** Random events for one pane, before all that is pending is delivered. */
const STEPS = 60;

/** A world with random events, in an order that depends on a seed. */
class Story extends World {
  trace = [];
  #shown = [];
  #sends = 0;
  /** Sends that the node has accepted, whose responses are pending. */
  #answers = [];
  #random;

  constructor(t, random, policy) {
    super(t, policy);
    this.#random = random;
  }

  async run() {
    void this.recovery.connect();
    for (let step = 0; step < STEPS; step += 1) {
      const { name, run } = this.#pick(this.#possible());
      this.trace.push(name);
      await run();
      await settle();
      this.check();
    }
    await this.calm();
  }

  /** No more faults: everything pending is delivered, time passes, and a last turn ends in an idle edge. */
  async calm() {
    this.page.show(true);
    const turns = [() => this.node.begin('the last turn', [], [])];
    for (let round = 0; round < 10_000; round += 1) {
      await settle();
      this.check();
      const [request] = this.page.requests;
      const source = this.page.sources.find(({ waiting }) => waiting);
      if (this.node.busy) this.node.step();
      else if (source) source.deliver();
      else if (request) {
        if (!request.snapshot) this.page.read(request);
        this.page.answer(request);
      } else if (this.#answers.length > 0) this.#answers.shift()();
      else if (this.clock.next !== null) await this.clock.advance(this.clock.next - this.clock.now);
      // A repair that has used up its attempts waits for the user, without a stream.
      else if (this.recovery.state().readyState === null) await this.#person();
      else if (turns.length > 0) turns.shift()();
      else return;
    }
    assert.fail('the pane is never at rest');
  }

  /** The invariants: no row is shown twice, and beside an open stream none is removed from the screen unless it was cut. */
  check() {
    const rows = this.transcript.rows.filter(({ rowId }) => rowId !== null);
    const named = rows.map(({ kind, rowId }) => `${kind} ${rowId}`);
    assert.equal(new Set(named).size, named.length, `a row is painted twice: ${named}`);
    const stored = new Set(this.node.rows.map(({ row_id }) => row_id));
    const lost = this.#shown.filter((row) => stored.has(row) && !rows.some(({ rowId }) => rowId === row));
    assert.deepEqual(lost, [], 'a row that is stored and was on screen');
    const open = this.page.sources.some(({ readyState }) => readyState === 1);
    this.#shown = open ? rows.map(({ rowId }) => rowId) : [];
  }

  /** What the stored history shows. */
  truth() {
    const transcript = new Transcript();
    transcript.replace(this.node.history().messages, false);
    return plain(transcript);
  }

  /** All events that are possible now, with their weights. */
  #possible() {
    const { node, page, clock, recovery } = this;
    const source = page.sources.find(({ waiting }) => waiting);
    const open = page.sources.find(({ readyState }) => readyState === 1);
    const dialling = page.sources.find(({ readyState }) => readyState === 0);
    const unread = page.requests.filter(({ snapshot }) => !snapshot);
    const read = page.requests.filter(({ snapshot }) => snapshot);
    const list = [];
    const add = (weight, name, run) => list.push(...Array(weight).fill({ name, run }));
    add(4, 'time', () => clock.advance(this.#pick([10, 100, 1_000, 5_000, 20_000])));
    if (source) add(12, 'deliver', () => source.deliver());
    if (node.busy) add(10, 'step', () => node.step());
    else {
      add(2, 'turn', () => node.begin(`turn ${++this.#sends}`, [], this.#calls()));
      add(1, 'send', () => this.#send());
      if (node.rows.length > 0) add(3, 'rewind', () => node.rewind(1 + this.#below(2)));
    }
    if (unread.length > 0) add(5, 'read', () => page.read(this.#pick(unread)));
    if (read.length > 0) add(5, 'answer', () => page.answer(this.#pick(read)));
    if (page.requests.length > 0) add(2, 'fail', () => page.fail(this.#pick(page.requests), this.#pick([500, 503])));
    if (this.#answers.length > 0) add(2, 'taken', () => this.#answers.shift()());
    if (open) add(1, 'break', () => open.broken());
    if (dialling) add(1, 'refuse', () => dialling.refused());
    add(1, 'restart', () => node.restart());
    add(1, 'evict', () => node.evict(1 + this.#below(8)));
    add(1, 'resync', () => node.resync());
    add(1, 'hide', () => page.show(false));
    add(2, 'show', () => page.show(true));
    add(1, 'redial', () => recovery.redial());
    add(1, 'connect', () => void recovery.connect());
    return list;
  }

  /** The calls of a turn; ids are used again in later turns. */
  #calls() {
    return this.#pick([[], ['c1'], ['c1', 'c2'], ['c2']]);
  }

  /** A message of the user: shown at once, accepted by the node, and acknowledged later. */
  #send() {
    const id = `send-${++this.#sends}`;
    this.transcript.send(id, id);
    this.node.begin(id, [id], this.#calls());
    this.#answers.push(() => this.transcript.taken(id, 'accepted'));
  }

  async #person() {
    assert.equal(this.recovery.needsPerson, true, 'a pane without a stream does not ask the user to act');
    void this.recovery.connect();
  }

  #below(limit) {
    return Math.floor(this.#random() * limit);
  }

  #pick(list) {
    return list[this.#below(list.length)];
  }
}

for (const [pane, Policy] of [['a pane that queues frames', Quiesce], ['a coordinator', LiveCalls]]) {
  test(`after any interleaving of turns, cuts, faults and redials ${pane} shows what is stored`, async (t) => {
    const { random } = Math;
    t.after(() => (Math.random = random));
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      // The client's jitter is part of the seed.
      Math.random = generator(seed);
      const story = new Story(t, Math.random, new Policy());
      try {
        await story.run();
        assert.deepEqual(plain(story.transcript), story.truth());
        const { latch, queued, readyState, busy } = story.recovery.state();
        assert.deepEqual({ latch, queued, readyState, busy }, { latch: false, queued: null, readyState: 1, busy: false });
        assert.equal(story.recovery.streamState, 'live');
        story.recovery.destroy();
        assert.deepEqual([story.clock.pending, story.page.listeners], [0, 0], 'a timer or a listener outlives the pane');
      } catch (error) {
        throw new Error(`RECOVERY_SEED=${seed}: ${error.message}\nafter: ${story.trace.join(' ')}`, { cause: error });
      }
    }
  });
}
