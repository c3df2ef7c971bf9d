import { request, workstreamPath } from '../api.js';
import { element, setText } from '../pane/dom.js';
import { StreamChip } from '../pane/stream_chip.js';
import { after, clusterState } from '../recovery/roster.js';
import { RosterStream } from '../recovery/roster_stream.js';
import { Keyed } from './keyed.js';
import { byName, inOrder } from './order.js';
import { RailRow, StoredRow, TableRow } from './rows.js';

/** @import { Entry, Roster } from '../recovery/roster.js' */

const WORKSTREAMS = '/v1/api/workstreams';
const COLUMNS = ['Workstream', 'State', 'Kind', 'Parent', ''];

/**
 * The loaded workstreams, in a rail and in a table, kept current by the global lane; and the stored ones, as last read.
 *
 * @param {{rail: Element, main: Element, status: Element, error: Element}} parts of the page, which it fills
 */
export function createDashboard({ rail, main, status, error }) {
  /** @type {Roster} */
  let roster = new Map();
  /** All workstreams, loaded or not. @type {Entry[]} */
  let listed = [];
  let known = false;
  /** Incremented by each read of `listed`: an older read whose response is late must change nothing. */
  let reading = 0;
  let frame = 0;

  const chip = new StreamChip();
  const rows = element('div', 'rail-rows');
  const nothing = element('p', 'empty-state');
  const body = element('tbody', '');
  const headings = COLUMNS.map((name) => element('th', '', name));
  const table = element('table', 'ws-table', element('thead', '', element('tr', '', ...headings)), body);
  const list = element('ul', 'stored-rows');
  const stored = element('section', 'stored', element('h2', '', 'Stored, not loaded'), list);
  const railRows = new Keyed(rows, () => new RailRow());
  const tableRows = new Keyed(body, () => new TableRow(close));
  const storedRows = new Keyed(list, () => new StoredRow());
  table.id = 'dash-ws-table';
  headings.forEach((heading) => { heading.scope = 'col'; });
  rail.append(rows, nothing);
  main.append(table, stored);
  status.append(chip.el);

  const stream = new RosterStream({
    frame(frame) {
      known ||= frame.type === 'node_snapshot';
      roster = after(roster, frame);
      if (frame.type === 'node_snapshot' || frame.type === 'ws_closed') void read();
    },
    refused: () => void read(),
    changed: repaint,
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void read();
  });
  stream.open();

  /** Reads the stored workstreams. Its error also shows why the lane was refused: an event source does not report it. */
  async function read() {
    const turn = (reading += 1);
    try {
      const { workstreams } = await request(`${WORKSTREAMS}?stored=1`);
      if (turn !== reading) return;
      listed = workstreams;
      error.textContent = '';
    } catch (failure) {
      if (turn !== reading) return;
      const { message, status } = /** @type {import('../api.js').ApiError} */ (failure);
      error.textContent = message;
      if (status === 401) stream.forget();
    }
    repaint();
  }

  /** @param {Entry} entry */
  async function close({ ws_id, name }) {
    try {
      await request(`${workstreamPath(ws_id)}/close`, { method: 'POST', body: {} });
    } catch (failure) {
      error.textContent = `${name} could not be closed. ${/** @type {Error} */ (failure).message}`;
    }
  }

  /** Paints in the next animation frame, once for all changes until then. */
  function repaint() {
    frame ||= requestAnimationFrame(paint);
  }

  function paint() {
    frame = 0;
    chip.show(stream.state, false);
    main.parentElement?.setAttribute('data-stream', stream.state);
    const lines = inOrder(roster).map(({ entry, depth }) => {
      const parent = roster.get(entry.parent_ws_id ?? '')?.name ?? '';
      return { key: entry.ws_id, item: { entry, depth, parent } };
    });
    const asleep = listed.filter(({ ws_id }) => !roster.has(ws_id)).sort(byName);
    railRows.show(lines);
    tableRows.show(lines);
    storedRows.show(known ? asleep.map((entry) => ({ key: entry.ws_id, item: entry })) : []);
    table.hidden = lines.length === 0;
    stored.hidden = !known || asleep.length === 0;
    nothing.hidden = lines.length > 0;
    setText(nothing, sentence(asleep.length > 0));
  }

  /** @param {boolean} anyStored */
  function sentence(anyStored) {
    if (!known) return 'Loading workstreams…';
    return anyStored ? 'No workstreams are loaded.' : 'No workstreams yet. Enter a name to create one.';
  }

  return { getClusterState: () => clusterState(roster) };
}
