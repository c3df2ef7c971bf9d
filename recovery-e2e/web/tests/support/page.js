/**
 * The parts of a page that the client uses: visibility, event sources and requests. Frames and responses wait until a
 * test delivers them, in any order that a network allows.
 */
export class FakePage {
  visibilityState = 'visible';
  /** Event sources that are not closed. */
  sources = [];
  /** Requests without a response yet. */
  requests = [];
  #listeners = [];

  /** Replaces the process's globals with this page until the end of the test. */
  static install(test, node) {
    const page = new FakePage();
    page.node = node;
    const globals = {
      document: page,
      window: page,
      EventSource: Object.assign(class extends FakeSource {
        constructor(url) {
          super(page, url);
        }
      }, { CONNECTING: 0, OPEN: 1, CLOSED: 2 }),
      fetch: (path, { signal }) =>
        new Promise((resolve, reject) => {
          const request = { path, snapshot: null, resolve, reject };
          page.requests.push(request);
          signal.addEventListener('abort', () => page.#settle(request, () => reject(signal.reason)));
        }),
    };
    const before = Object.fromEntries(Object.keys(globals).map((name) => [name, globalThis[name]]));
    Object.assign(globalThis, globals);
    test.after(() => Object.assign(globalThis, before));
    return page;
  }

  addEventListener(type, listener) {
    this.removeEventListener(type, listener);
    this.#listeners.push([type, listener]);
  }

  removeEventListener(type, listener) {
    this.#listeners = this.#listeners.filter(([of, known]) => of !== type || known !== listener);
  }

  /** The number of listeners that are registered. */
  get listeners() {
    return this.#listeners.length;
  }

  show(visible) {
    this.visibilityState = visible ? 'visible' : 'hidden';
    this.#dispatch('visibilitychange');
  }

  focus() {
    this.#dispatch('focus');
  }

  /** The node reads the history for a request; its response is in flight. */
  read(request) {
    request.snapshot = this.node.history();
  }

  /** The response of a read arrives. */
  answer(request) {
    this.#settle(request, () => request.resolve({ ok: true, status: 200, json: async () => request.snapshot }));
  }

  /** A request fails. */
  fail(request, status) {
    this.#settle(request, () => request.resolve({ ok: false, status, json: async () => ({}) }));
  }

  #dispatch(event) {
    for (const [type, listener] of this.#listeners) if (type === event) listener();
  }

  #settle(request, end) {
    if (!this.requests.includes(request)) return;
    this.requests = this.requests.filter((other) => other !== request);
    end();
  }
}

class FakeSource {
  readyState = 0;
  onopen = () => {};
  onmessage = () => {};
  onerror = () => {};
  #queue = [];
  #ends = false;
  #lastId = '';
  #page;

  constructor(page, url) {
    this.#page = page;
    this.query = new URL(url, 'http://node').searchParams;
    page.sources.push(this);
  }

  /** Whether there is anything to deliver. */
  get waiting() {
    return this.readyState === 0 || this.#queue.length > 0 || this.#ends;
  }

  push(frame) {
    this.#queue.push(frame);
  }

  /** The connection breaks: frames in flight are lost, and the browser will redial. */
  broken() {
    if (this.readyState !== 1) return;
    this.#disconnect();
    this.readyState = 0;
    this.onerror();
  }

  /** The connection is refused with a status; the browser does not retry. */
  refused() {
    if (this.readyState !== 0) return;
    this.readyState = 2;
    this.#page.sources = this.#page.sources.filter((source) => source !== this);
    this.onerror();
  }

  /** Delivers the next event of the network: the opening, one frame, or the end. */
  deliver() {
    if (this.readyState === 0) return this.#open();
    const frame = this.#queue.shift();
    if (frame) {
      this.#lastId = frame.id ?? this.#lastId;
      this.onmessage({ data: JSON.stringify(frame.data), lastEventId: this.#lastId });
    } else if (this.#ends) {
      this.broken();
    }
  }

  close() {
    this.#disconnect();
    this.readyState = 2;
    this.#page.sources = this.#page.sources.filter((source) => source !== this);
  }

  #open() {
    const header = this.#lastId === '' ? null : this.#lastId;
    const presented = { header, query: this.query.get('last_event_id'), token: this.query.get('history_token') };
    const { frames, ends } = this.#page.node.connect(presented, this);
    this.#queue = frames;
    this.#ends = ends;
    this.readyState = 1;
    this.onopen();
  }

  #disconnect() {
    this.#page.node.connections.delete(this);
    this.#queue = [];
    this.#ends = false;
  }
}
