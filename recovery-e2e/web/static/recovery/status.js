/**
 * The state of a pane's stream, as shown to the user.
 * @typedef {'connecting' | 'catching-up' | 'live' | 'stale' | 'degraded' | 'offline'} StreamState
 */

/**
 * @param {{
 *   readyState: 0 | 1 | 2 | null, latch: boolean, refetching: boolean, loading: boolean, failing: boolean,
 *   caughtUp: boolean, truncated: boolean, degraded: boolean, repair: 'none' | 'trying' | 'waiting' | 'exhausted', opened: boolean,
 * }} facts
 * @returns {StreamState}
 */
export function streamState(facts) {
  if (facts.repair === 'trying') return 'catching-up';
  if (facts.repair !== 'none') return 'stale';
  if (facts.loading) return facts.opened ? 'catching-up' : 'connecting';
  if (facts.readyState === EventSource.CONNECTING && !facts.failing) return 'connecting';
  if (facts.readyState !== EventSource.OPEN) return 'offline';
  if (facts.refetching || !facts.caughtUp) return 'catching-up';
  if (facts.degraded) return 'degraded';
  return facts.latch || facts.truncated ? 'stale' : 'live';
}
