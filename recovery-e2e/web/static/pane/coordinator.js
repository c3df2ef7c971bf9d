import { workstreamPath } from '../api.js';
import { LiveCalls } from '../recovery/live_calls.js';
import { Conversation } from './conversation.js';
import { CoordCallView } from './coord_call_view.js';
import { element } from './dom.js';
import { viewOf } from './row_view.js';
import { Sidebar } from './sidebar.js';
import { StreamChip } from './stream_chip.js';
import { BatchView } from './tool_view.js';

/** Frames that start, continue or end a task. */
const CALL_FRAMES = new Set(['tool_pending', 'tool_result']);

/**
 * The pane of a coordinator: its rows, with its children and tasks beside them. Nothing happens before `connect()`,
 * which loads both and then opens the stream. It has no `state()`: its state is visible on the page only.
 *
 * @param {{wsId: string, root: Element}} options the pane is appended to `root`
 */
export function createCoordinatorPane({ wsId, root }) {
  const stream = new StreamChip();
  const sidebar = new Sidebar(workstreamPath(wsId), showCall);
  const open = element('button', 'coord-side-toggle', 'Tasks');
  const bar = element('div', 'coord-status-bar', stream.el, open);
  const conversation = new Conversation(wsId, {
    viewOf: (entry) => (entry.kind === 'batch' ? new BatchView(CoordCallView) : viewOf(entry)),
    policy: new LiveCalls(),
    foot: bar,
    changed(state, busy) {
      stream.show(state, busy);
      bar.classList.toggle('ws-sb-disconnected', state === 'offline' || state === 'connecting');
      el.dataset.busy = String(busy);
    },
    painted: (frame) => {
      if (frame === null || CALL_FRAMES.has(frame.type)) sidebar.changed();
    },
  });
  const { recovery, messages, repair, composer } = conversation;
  messages.el.id = 'coord-messages';
  bar.id = 'coord-status-bar';
  const talk = element('div', 'coord-talk', messages.el, repair.el, composer.el);
  const el = element('section', 'pane coord', talk, sidebar.el);
  open.type = 'button';
  open.addEventListener('click', () => showSide(el.dataset.side !== 'open'));
  sidebar.el.addEventListener('keydown', ({ key }) => key === 'Escape' && showSide(false));
  showSide(false);
  root.append(el);
  conversation.refresh();

  /** On a narrow screen the sidebar replaces the rows; on a wide one it is always visible. */
  function showSide(/** @type {boolean} */ shown) {
    el.dataset.side = shown ? 'open' : 'closed';
    open.setAttribute('aria-expanded', String(shown));
  }

  /** Scrolls to the call of a task, if its row is on screen. @param {{row_id: string, call_id: string}} task */
  function showCall({ row_id, call_id }) {
    showSide(false);
    const batch = `.conv-batch[data-row-id="${CSS.escape(row_id)}"]`;
    const call = messages.el.querySelector(`${batch} > .conv-row[data-call-id="${CSS.escape(call_id)}"]`);
    if (!(call instanceof HTMLElement)) return;
    call.scrollIntoView({ block: 'center' });
    call.focus({ preventScroll: true });
  }

  return {
    el,
    connect() {
      void sidebar.refresh();
      return recovery.connect();
    },
    /** Stops the pane and removes it from the page. */
    destroy() {
      conversation.destroy();
      sidebar.destroy();
      el.remove();
    },
  };
}
