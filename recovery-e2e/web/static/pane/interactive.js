import { request, requestId, workstreamPath } from '../api.js';
import { Recovery } from '../recovery/core.js';
import { rowsGated } from '../recovery/gate.js';
import { Quiesce } from '../recovery/quiesce.js';
import { Composer } from './composer.js';
import { element, setText } from './dom.js';
import { Messages } from './render.js';
import { RepairBar } from './repair_bar.js';

/** @type {Record<import('../recovery/status.js').StreamState, string>} */
const STREAM_STATES = {
  connecting: 'Connecting',
  'catching-up': 'Catching up',
  live: 'Live',
  stale: 'Out of date',
  degraded: 'Out of date, pausing',
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
  const messages = new Messages(act);
  const composer = new Composer({ send, stop }, streamChip);
  const repair = new RepairBar(() => void recovery.connect());
  const el = element('section', 'pane', messages.el, repair.el, composer.el);

  const recovery = new Recovery(wsId, {
    render: (snapshot) => messages.render(snapshot.messages, recovery.busy),
    paint: (frame) => messages.paint(frame),
    passOver: (frame) => messages.passOver(frame),
    rested: () => messages.rest(),
    liveRefs: () => messages.liveRefs,
    endRefs: () => messages.endRefs(),
    sending: () => messages.sending,
    changed: refresh,
  }, new Quiesce());
  root.append(el);
  refresh();

  /** Shows what can be derived from the state of the recovery. */
  function refresh() {
    const { streamState, busy } = recovery;
    streamChip.dataset.state = streamState;
    el.dataset.busy = String(busy);
    setText(streamLabel, streamState === 'live' && busy ? 'Working' : STREAM_STATES[streamState]);
    repair.show(recovery.needsPerson, recovery.reloading);
    composer.setBusy(busy);
    messages.setGated(rowsGated(recovery.state()));
  }

  /** @param {'rewind' | 'edit'} action @param {number} turns @param {string} text of the row */
  function act(action, turns, text) {
    if (rowsGated(recovery.state())) return;
    void post('rewind', { turns, request_id: requestId() }).then(({ error, answer }) => {
      if (answer?.status === 'busy') composer.showError('A turn is running. Rewind when it has ended.');
      else if (error) composer.showError(`The rewind failed. ${error}`);
      else if (action === 'edit') composer.edit(text);
    });
  }

  /** @param {string} id @param {string} text */
  function send(id, text) {
    messages.showSend(id, text);
    refresh();
    void post('send', { message: text, client_send_id: id }).then(({ error, answer }) => {
      if (!error) messages.sendTaken(id, answer.status === 'queued' ? 'queued' : 'accepted');
      else if (messages.dropSend(id)) {
        composer.restore(id, text);
        composer.showError(`The message was not sent. ${error}`);
      }
      refresh();
    });
  }

  async function stop() {
    const { error } = await post('cancel', {});
    if (error) composer.showError(`The turn could not be stopped. ${error}`);
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
      messages.destroy();
      el.remove();
    },
    state: () => recovery.state(),
  };
}
