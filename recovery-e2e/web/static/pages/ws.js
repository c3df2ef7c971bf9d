import { request, workstreamPath } from '../api.js';
import { createInteractivePane } from '../pane/interactive.js';

const wsId = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const root = /** @type {HTMLElement} */ (document.querySelector('main'));
const title = /** @type {HTMLElement} */ (document.querySelector('.page-title'));

void createInteractivePane({ wsId, root }).connect();

try {
  const { name } = await request(workstreamPath(wsId));
  title.textContent = name;
  document.title = name;
} catch {
  // The name is an ornament; the pane says what is wrong with the connection.
  title.textContent = wsId;
}
