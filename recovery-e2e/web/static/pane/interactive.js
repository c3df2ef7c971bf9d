import { request, requestId, workstreamPath } from '../api.js';
import { Recovery } from '../recovery/core.js';
import { rowsGated } from '../recovery/gate.js';
import { Composer } from './composer.js';
import { element } from './dom.js';
import { Messages } from './render.js';

/** @type {Record<import('../recovery/status.js').StreamState, string>} */
const STREAM_STATES = {
  connecting: 'Connecting',
  'catching-up': 'Catching up',
  live: 'Live',
  stale: 'Out of date',
  offline: 'Offline, reconnecting',
};

/**
 * The pane of one workstream: its rows, its composer and the state of its stream, kept true by the recovery core.
 * Nothing happens before `connect()`, which loads the history and then opens the stream. `state()` is for reading.
 *
 * @param {{wsId: string, root: Element}} options the pane is appended to `root`
 */
export function createInteractivePane({ wsId, root }) {
  const path = workstreamPath(wsId);
  const streamLabel = element('span', 'stream-label');
  const streamChip = element('span', 'stream-state', element('span', 'stream-dot'), streamLabel);
  streamChip.setAttribute('role', 'status');
  const messages = new Messages(rewind);
  const composer = new Composer(send, streamChip);
  const reload = element('button', 'history-handoff-retry', 'Reload');
  reload.type = 'button';
  const repairBar = element('div', 'history-handoff-repair', 'These messages may be out of date.', reload);
  repairBar.setAttribute('role', 'alert');
  const el = element('section', 'pane', messages.el, repairBar, composer.el);

  const recovery = new Recovery(wsId, {
    render: (snapshot) => messages.render(snapshot.messages),
    paint: (frame) => messages.paint(frame),
    passOver: (frame) => messages.passOver(frame),
    liveRefs: () => messages.liveRefs,
    endRefs: () => messages.endRefs(),
    sending: () => messages.unsettled > 0,
    changed: refresh,
  });
  reload.addEventListener('click', () => void recovery.connect());
  root.append(el);
  refresh();

  /** Shows what can be derived from the state of the recovery. */
  function refresh() {
    const { streamState, busy, needsPerson } = recovery;
    const label = streamState === 'live' && busy ? 'Working' : STREAM_STATES[streamState];
    streamChip.dataset.state = streamState;
    el.dataset.busy = String(busy);
    // A live region announces each assignment, so only a change is one.
    if (streamLabel.textContent !== label) streamLabel.textContent = label;
    repairBar.hidden = !needsPerson;
    messages.setGated(rowsGated(recovery.state()));
  }

  /** @param {number} turns */
  function rewind(turns) {
    if (rowsGated(recovery.state())) return;
    void post('rewind', { turns, request_id: requestId() }).then(({ error, answer }) => {
      if (answer?.status === 'busy') composer.showError('A turn is running. Rewind when it has ended.');
      else if (error) composer.showError(`The rewind failed. ${error}`);
    });
  }

  /** @param {string} id @param {string} text */
  function send(id, text) {
    messages.showOptimistic(id, text);
    refresh();
    void post('send', { message: text, client_send_id: id }).then(({ error }) => {
      if (!error) messages.acceptOptimistic(id);
      else if (messages.dropOptimistic(id)) {
        composer.restore(id, text);
        composer.showError(`The message was not sent. ${error}`);
      }
      refresh();
    });
  }

  /**
   * @param {string} action
   * @param {object} body
   * @returns {Promise<{answer?: any, error?: string}>}
   */
  function post(action, body) {
    return request(`${path}/${action}`, { method: 'POST', body }).then(
      (answer) => ({ answer }),
      (error) => ({ error: error.message }),
    );
  }

  return {
    el,
    connect: () => recovery.connect(),
    disconnect: () => recovery.disconnect(),
    redial: () => recovery.redial(),
    /** Ends the pane and takes it from the page. */
    destroy() {
      recovery.destroy();
      el.remove();
    },
    state: () => recovery.state(),
  };
}
