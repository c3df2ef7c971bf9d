import { element, setAttribute, setText } from './dom.js';
import { Follow } from './follow.js';

/** @import { Batch, Call, Context } from './calls.js' */

/** Share of an agent's context from which its badge warns. */
const CONTEXT_WARNING = 0.8;

/** Distance from the end of an output, in pixels, within which the view keeps following new lines. */
const FOLLOW_WITHIN_PX = 8;

/** The labels of the states of a call. */
export const STATES = { running: 'Running', done: 'Done', failed: 'Failed', interrupted: 'No result' };

/** Calls that run together. */
export class BatchView {
  el = element('div', 'conv-batch');
  /** @type {{el: Element, show(call: Call): void}[]} */
  #calls = [];
  #Call;

  /** @param {new (parent: Element) => {el: Element, show(call: Call): void}} Call the view of one call */
  constructor(Call = CallView) {
    this.#Call = Call;
  }

  /** @param {Batch} batch */
  show({ rowId, calls }) {
    setAttribute(this.el, 'data-row-id', rowId);
    this.el.classList.toggle('conv-batch--running', calls.some(({ state }) => state === 'running'));
    this.el.classList.toggle('conv-batch--solo', calls.length === 1);
    this.el.classList.toggle('conv-batch--parallel', calls.length > 1);
    this.el.classList.toggle('conv-batch--error', calls.some(({ state }) => state === 'failed'));
    while (this.#calls.length > calls.length) this.#calls.pop()?.el.remove();
    calls.forEach((call, at) => {
      const view = (this.#calls[at] ??= new this.#Call(this.el));
      view.show(call);
    });
  }
}

/** One call: its title, its state and its output. */
class CallView {
  el = element('div', 'conv-row');
  #name = element('span', 'conv-row-name');
  #state = element('span', 'conv-row-state');
  #preview = element('code', 'conv-row-preview');
  #output = element('pre', '');
  #follow = new Follow(this.#output, FOLLOW_WITHIN_PX);
  /** @type {AgentView | null} */
  #agent = null;
  /** @type {Call | null} */
  #shown = null;

  /** @param {Element} parent */
  constructor(parent) {
    this.#output.tabIndex = 0;
    this.el.append(element('div', 'conv-row-head', this.#name, this.#preview, this.#state));
    parent.append(this.el);
  }

  /** @param {Call} call */
  show(call) {
    if (call === this.#shown) return;
    this.el.dataset.callId = call.callId;
    this.el.dataset.state = call.state;
    setText(this.#name, call.header);
    setText(this.#preview, call.preview);
    setText(this.#state, STATES[call.state]);
    this.#preview.hidden = call.preview === '';
    if (call.steps.length > 0 || call.context !== null) {
      this.#agent ??= new AgentView(this.el);
      this.#agent.show(call);
    }
    this.#showOutput(call);
    this.#shown = call;
  }

  #showOutput(/** @type {Call} */ { callId, state, output, clipped }) {
    const ended = state === 'done' || state === 'failed';
    if (!ended && output === '') return this.#output.remove();
    if (!ended) this.#follow.beforeChange();
    this.#output.className = ended ? 'tool-output' : 'tool-output-stream';
    setAttribute(this.#output, 'data-call-id', ended ? null : callId);
    setAttribute(this.#output, 'data-clipped', clipped > 0 ? `${clipped} earlier characters are not shown` : null);
    setText(this.#output, output);
    if (!this.#output.parentNode) this.el.append(this.#output);
  }
}

/** The calls that an agent has made, behind a button. Expanded while the agent runs. */
class AgentView {
  #toggle = element('button', 'conv-agent-toggle');
  #context = element('span', 'conv-agent-context');
  #steps = element('div', 'conv-agent-steps');
  #card = element('div', 'conv-agent', element('div', 'conv-agent-head', this.#toggle, this.#context), this.#steps);
  /** @type {BatchView[]} */
  #batches = [];
  /** The user's choice. @type {boolean | null} */
  #collapsed = null;

  /** @param {Element} parent */
  constructor(parent) {
    this.#toggle.type = 'button';
    this.#toggle.addEventListener('click', () => this.#collapse(this.#card.dataset.collapsed !== 'true'));
    parent.append(this.#card);
  }

  /** @param {Call} call */
  show({ state, steps, context }) {
    // An agent without calls yet has only a context, and nothing to expand.
    const contextOnly = steps.length === 0;
    this.#card.dataset.state = state;
    this.#card.dataset.contextOnly = String(contextOnly);
    this.#card.hidden = contextOnly;
    if (this.#collapsed === null) this.#collapse(state !== 'running');
    const count = steps.reduce((sum, { calls }) => sum + calls.length, 0);
    setText(this.#toggle, count === 1 ? '1 step' : `${count} steps`);
    this.#showContext(context);
    while (this.#batches.length > steps.length) this.#batches.pop()?.el.remove();
    steps.forEach((step, at) => {
      const view = (this.#batches[at] ??= new BatchView());
      view.show(step);
      if (!view.el.parentNode) this.#steps.append(view.el);
    });
  }

  #collapse(/** @type {boolean} */ collapsed) {
    this.#collapsed = collapsed;
    this.#card.dataset.collapsed = String(collapsed);
    this.#toggle.setAttribute('aria-expanded', String(!collapsed));
    this.#steps.hidden = collapsed;
  }

  #showContext(/** @type {Context | null} */ context) {
    this.#context.hidden = context === null;
    if (context === null) return;
    const full = context.window > 0 && context.prompt >= CONTEXT_WARNING * context.window;
    this.#context.classList.toggle('conv-agent-context--warning', full);
    setText(this.#context, `${thousands(context.prompt)} / ${thousands(context.window)}`);
    this.#context.title = `${context.prompt} of ${context.window} tokens of context`;
  }
}

/** @param {number} tokens */
function thousands(tokens) {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
