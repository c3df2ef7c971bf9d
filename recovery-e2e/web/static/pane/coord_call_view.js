import { element, setText } from './dom.js';
import { STATES } from './tool_view.js';

/** @import { Call } from './calls.js' */

/** One call in a coordinator's transcript: one line, with its result below. The steps of an agent are not shown here. */
export class CoordCallView {
  #name = element('span', 'conv-row-name');
  #preview = element('span', 'conv-row-preview');
  #state = element('span', 'conv-row-state');
  #result = element('pre', 'conv-row-result');
  el = element('div', 'conv-row', element('div', 'conv-row-head', this.#name, this.#preview, this.#state), this.#result);

  /** @param {Element} parent */
  constructor(parent) {
    this.el.tabIndex = -1;
    this.#result.tabIndex = 0;
    parent.append(this.el);
  }

  /** @param {Call} call */
  show({ callId, header, preview, state, output }) {
    this.el.dataset.callId = callId;
    this.el.dataset.state = state;
    setText(this.#name, header);
    setText(this.#preview, preview);
    this.#preview.title = preview;
    setText(this.#state, STATES[state]);
    const ended = state === 'done' || state === 'failed';
    this.#result.hidden = !ended || output === '';
    setText(this.#result, ended ? output : '');
  }
}
