import assert from 'node:assert/strict';
import { test } from 'node:test';

import { REDIAL_CAP_MS, REDIAL_JITTER_MS } from '../static/recovery/timing.js';
import { generator } from './support/chance.js';
import { settle } from './support/clock.js';
import { RosterWorld } from './support/roster_world.js';

/** The first seed; `ROSTER_SEED` of a failure's message tries that one alone. */
const FIRST = Number(process.env.ROSTER_SEED ?? Math.floor(Math.random() * 2 ** 31));
const SEEDS = process.env.ROSTER_SEED ? 1 : 500;

/** Random events for one dashboard, before all that is pending is delivered. */
const STEPS = 60;

const STATES = ['idle', 'thinking', 'running', 'error'];

/** A world with random events, in an order that depends on a seed. */
class Story extends RosterWorld {
  trace = [];
  #names = 0;
  /** The cursors that the page knows cannot be replayed. */
  #heard = new Set();
  #random;

  constructor(t, random) {
    super(t);
    this.#random = random;
  }

  async run() {
    this.stream.open();
    for (let step = 0; step < STEPS; step += 1) {
      const possible = this.#possible();
      const [name, run] = possible[this.#below(possible.length)];
      const { source } = this;
      this.trace.push(name);
      await run();
      await settle();
      assert.ok(this.page.sources.length <= 1, 'one source at a time');
      if (this.source && this.source !== source) {
        assert.ok(!this.#heard.has(this.presented), `${this.presented} is presented again, though it is known to be dead`);
      }
    }
    await this.deliver();
    await this.clock.advance(REDIAL_CAP_MS + REDIAL_JITTER_MS);
    await this.deliver();
  }

  #possible() {
    const { node, page, source, clock } = this;
    const loaded = [...node.loaded.keys()];
    const some = loaded[this.#below(loaded.length)];
    return [
      ['create', () => node.create(`w${(this.#names += 1)}`)],
      ['restart', () => node.restart()],
      ['evict', () => node.evict()],
      ['aggregate', () => node.aggregate()],
      ['hide', () => page.show(false)],
      ['show', () => page.show(true)],
      ['focus', () => page.focus()],
      ...(some === undefined ? [] : [
        ['enter', () => node.enter(some, STATES[this.#below(STATES.length)])],
        ['rename', () => node.rename(some, `${some}, renamed`)],
        ['close', () => node.close(some)],
      ]),
      ...(source?.waiting ? Array(8).fill(['deliver', () => this.#deliver(source)]) : []),
      ...(source?.readyState === 1 ? [['sever', () => source.broken()], ['garble', () => source.onmessage({ data: '{', lastEventId: 'x' })]] : []),
      ...(source?.readyState === 0 ? [['refuse', () => source.refused()]] : []),
      ...(clock.next === null ? [] : [['wait', () => clock.advance(clock.next - clock.now)]]),
    ];
  }

  #deliver(source) {
    const { onmessage } = source;
    source.onmessage = (message) => {
      if (JSON.parse(message.data).type === 'replay_truncated') {
        for (const cursor of this.node.dead) this.#heard.add(cursor);
      }
      onmessage(message);
    };
    source.deliver();
    source.onmessage = onmessage;
  }

  #below(count) {
    return Math.floor(this.#random() * count);
  }
}

test('after any interleaving of changes, faults and redials the dashboard shows what is loaded', async (t) => {
  const { random } = Math;
  t.after(() => (Math.random = random));
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    // The client's jitter is part of the seed.
    Math.random = generator(seed);
    const story = new Story(t, Math.random);
    try {
      await story.run();
      assert.deepEqual(story.roster, story.node.loaded);
      assert.equal(story.stream.state, 'live');
    } catch (error) {
      throw new Error(`ROSTER_SEED=${seed}: ${error.message}\nafter: ${story.trace.join(' ')}`, { cause: error });
    }
  }
});
