import { pagePath, request } from '../api.js';
import { createDashboard } from '../dashboard/dashboard.js';

const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

const form = /** @type {HTMLFormElement} */ (find('.ws-create'));
const error = find('.page-error');

const { getClusterState } = createDashboard({
  rail: find('.rail'),
  main: find('.overview'),
  status: find('.topbar-status'),
  error,
});
Object.assign(window, { TS_APP: { getClusterState } });

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { name, kind } = Object.fromEntries(new FormData(form));
  try {
    const { ws_id } = await request('/v1/api/workstreams', { method: 'POST', body: { name: String(name).trim(), kind } });
    location.assign(pagePath({ ws_id, kind: String(kind) }));
  } catch (failure) {
    error.textContent = /** @type {Error} */ (failure).message;
  }
});
