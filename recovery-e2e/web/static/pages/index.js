import { request } from '../api.js';
import { element } from '../pane/dom.js';

const WORKSTREAMS = '/v1/api/workstreams';

const list = /** @type {HTMLElement} */ (document.querySelector('.ws-list'));
const form = /** @type {HTMLFormElement} */ (document.querySelector('.ws-create'));
const name = /** @type {HTMLInputElement} */ (form.elements.namedItem('name'));
const error = /** @type {HTMLElement} */ (document.querySelector('.page-error'));

/** @param {{ws_id: string, name: string, state: string}} workstream */
function item({ ws_id, name, state }) {
  const link = element('a', 'ws-link', element('span', 'ws-name', name), element('span', 'ws-state', state));
  link.href = `/ws/${encodeURIComponent(ws_id)}`;
  return element('li', 'ws-item', link);
}

async function refresh() {
  try {
    const { workstreams } = await request(`${WORKSTREAMS}?stored=1`);
    const empty = element('li', 'empty-state', 'No workstreams yet. Name the first one above.');
    list.replaceChildren(...(workstreams.length > 0 ? workstreams.map(item) : [empty]));
    error.textContent = '';
  } catch (failure) {
    error.textContent = /** @type {Error} */ (failure).message;
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const { ws_id } = await request(WORKSTREAMS, { method: 'POST', body: { name: name.value.trim() } });
    location.assign(`/ws/${encodeURIComponent(ws_id)}`);
  } catch (failure) {
    error.textContent = /** @type {Error} */ (failure).message;
  }
});

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void refresh();
});

void refresh();
