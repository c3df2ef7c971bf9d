/**
 * What a page gives the client: visibility, event sources and requests. Frames and answers wait until they are let
 * through, so that a test can put them in any order that a network allows.
 */
export class FakePage {
  visibilityState = 'visible';
  /** Event sources that are not closed. */
  sources = [];
  /** Requests that have no answer yet. */
  requests = [];
  #listeners = [];

  /** Puts this page in place of the process's globals until the test has ended. */
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

  /** How many parts of the client still listen. */
  get listeners() {
    return this.#listeners.length;
  }

  show(visible) {
    this.visibilityState = visible ? 'visible' : 'hidden';
    this.#tell('visibilitychange');
  }

  focus() {
    this.#tell('focus');
  }

  /** The node reads the history for a request; its answer is on the way. */
  read(request) {
    request.snapshot = this.node.history();
  }

  /** A read answer arrives. */
  answer(request) {
    this.#settle(request, () => request.resolve({ ok: true, status: 200, json: async () => request.snapshot }));
  }

  /** A request fails. */
  fail(request, status) {
    this.#settle(request, () => request.resolve({ ok: false, status, json: async () => ({}) }));
  }

  #tell(happened) {
    for (const [type, listener] of this.#listeners) if (type === happened) listener();
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

  /** Whether there is anything to let through. */
  get waiting() {
    return this.readyState === 0 || this.#queue.length > 0 || this.#ends;
  }

  push(frame) {
    this.#queue.push(frame);
  }

  /** The connection breaks: what was on its way is lost, and the browser will redial. */
  broken() {
    if (this.readyState !== 1) return;
    this.#disconnect();
    this.readyState = 0;
    this.onerror();
  }

  /** The connection is answered with a status, after which the browser does not try again. */
  refused() {
    if (this.readyState !== 0) return;
    this.readyState = 2;
    this.#page.sources = this.#page.sources.filter((source) => source !== this);
    this.onerror();
  }

  /** The next thing that the network brings: the opening, one frame, or the end. */
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
