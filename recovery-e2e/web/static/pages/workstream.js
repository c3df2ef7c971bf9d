import { request, workstreamPath } from '../api.js';

/**
 * Fills the page of one workstream, whose id is in the address.
 * @param {(options: {wsId: string, root: Element}) => {connect(): Promise<void>}} createPane
 */
export function openWorkstreamPage(createPane) {
  const wsId = decodeURIComponent(location.pathname.split('/')[2] ?? '');
  const root = /** @type {HTMLElement} */ (document.querySelector('main'));
  void createPane({ wsId, root }).connect();
  void showName(wsId);
}

/** @param {string} wsId */
async function showName(wsId) {
  const title = /** @type {HTMLElement} */ (document.querySelector('.page-title'));
  try {
    const { name } = await request(workstreamPath(wsId));
    title.textContent = name;
    document.title = name;
  } catch {
    // Only the title needs the name; the pane reports connection errors.
    title.textContent = wsId;
  }
}
