import { REQUEST_DEADLINE_MS } from './recovery/timing.js';

/** A request without a usable response; the message can be shown to the user. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} [status] the HTTP status, if there was an answer
   */
  constructor(message, status) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/** The address of a workstream's page. @param {{ws_id: string, kind: string}} workstream */
export function pagePath({ ws_id, kind }) {
  return `/${kind === 'coordinator' ? 'coord' : 'ws'}/${encodeURIComponent(ws_id)}`;
}

/** The address of a workstream's API. @param {string} wsId */
export function workstreamPath(wsId) {
  return `/v1/api/workstreams/${encodeURIComponent(wsId)}`;
}

/** A unique request id. Not `randomUUID`, which is missing on plain HTTP hosts. */
export function requestId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Sends one request, within the caller's task, and returns its JSON response. Anything else is an `ApiError`.
 * @param {string} path
 * @param {{method?: string, body?: object, deadlineMs?: number, controller?: AbortController}} [options]
 * @returns {Promise<any>}
 */
export async function request(path, options = {}) {
  const { method = 'GET', body, deadlineMs = REQUEST_DEADLINE_MS, controller = new AbortController() } = options;
  const deadline = setTimeout(() => controller.abort(), deadlineMs);
  try {
    const response = await fetch(path, {
      method,
      headers: body && { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      cache: 'no-store',
      signal: controller.signal,
    });
    // The body counts against the deadline too.
    const answer = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    throw new ApiError(answer?.error ?? refusal(response.status), response.status);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(controller.signal.aborted ? 'The node did not respond in time.' : 'The node cannot be reached.');
  } finally {
    clearTimeout(deadline);
  }
}

/** @param {number} status */
function refusal(status) {
  if (status === 401) return 'You are not signed in. Open the address that the node printed at startup.';
  return `The node returned status ${status}.`;
}
