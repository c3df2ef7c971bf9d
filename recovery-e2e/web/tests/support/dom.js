/**
 * The part of the DOM that the list of messages uses. It counts the operations, so that a test can compare the work of
 * two changes without a clock. Siblings are linked: no operation costs more beside many nodes than beside few.
 */
export class FakeDom {
  /** Reads and changes of the tree and its attributes. */
  operations = 0;
  /** How often the layout was read or the scroll position set: in a browser, either one computes the layout. */
  layouts = 0;
  activeElement = null;
  #frames = [];

  /** Replaces the process's globals with this DOM; `restore()` undoes it. */
  static install() {
    const dom = new FakeDom();
    const globals = {
      document: dom,
      Element: FakeElement,
      requestAnimationFrame: (callback) => dom.#frames.push(callback),
      cancelAnimationFrame: (id) => { dom.#frames[id - 1] = () => {}; },
    };
    const before = Object.fromEntries(Object.keys(globals).map((name) => [name, globalThis[name]]));
    Object.assign(globalThis, globals);
    dom.restore = () => Object.assign(globalThis, before);
    return dom;
  }

  createElement() {
    return new FakeElement(this);
  }

  createComment() {
    return new FakeElement(this);
  }

  /** The browser draws: the animation frames that were requested run. */
  draw() {
    for (const callback of this.#frames.splice(0)) callback();
  }
}

class FakeElement {
  dataset = {};
  clientHeight = 0;
  #dom;
  #parent = null;
  #previous = null;
  #next = null;
  #first = null;
  #last = null;
  #scrollTop = 0;

  constructor(dom) {
    this.#dom = dom;
  }

  get nextSibling() {
    this.#dom.operations += 1;
    return this.#next;
  }

  get scrollHeight() {
    this.#dom.layouts += 1;
    return 0;
  }

  get scrollTop() {
    this.#dom.layouts += 1;
    return this.#scrollTop;
  }

  set scrollTop(top) {
    this.#dom.layouts += 1;
    this.#scrollTop = top;
  }

  append(...nodes) {
    for (const node of nodes) if (node instanceof FakeElement) this.insertBefore(node, null);
  }

  replaceChildren(...nodes) {
    while (this.#first) this.#first.remove();
    this.append(...nodes);
  }

  after(node) {
    this.#parent.insertBefore(node, this.#next);
  }

  insertBefore(node, before) {
    node.remove();
    const previous = before ? before.#previous : this.#last;
    node.#parent = this;
    node.#previous = previous;
    node.#next = before;
    if (previous) previous.#next = node;
    else this.#first = node;
    if (before) before.#previous = node;
    else this.#last = node;
  }

  remove() {
    this.#dom.operations += 1;
    if (!this.#parent) return;
    if (this.#previous) this.#previous.#next = this.#next;
    else this.#parent.#first = this.#next;
    if (this.#next) this.#next.#previous = this.#previous;
    else this.#parent.#last = this.#previous;
    this.#parent = this.#previous = this.#next = null;
  }

  contains(node) {
    for (let at = node; at; at = at.#parent) if (at === this) return true;
    return false;
  }

  /** The children in their order, without counting. */
  get children() {
    const children = [];
    for (let at = this.#first; at; at = at.#next) children.push(at);
    return children;
  }

  querySelectorAll() {
    this.#dom.operations += 1;
    return [];
  }

  setAttribute() {
    this.#dom.operations += 1;
  }

  addEventListener() {}

  focus() {
    this.#dom.activeElement = this;
  }
}
