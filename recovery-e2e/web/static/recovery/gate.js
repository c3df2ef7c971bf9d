/**
 * Whether the buttons of the rows are gated: while a turn runs, and from the moment a cut is announced until a
 * snapshot has been rendered. Neither the refetch's queue nor a rewind in flight is a term: after a failed refetch
 * there is no queue, but the rows on screen are still those from before the cut.
 *
 * @param {{busy: boolean, latch: boolean, queued: number | null}} state
 * @returns {boolean}
 */
export function rowsGated(state) { return state.busy || state.latch; }
