/**
 * The cursor after an id has been seen. Ids are `<epoch>-<seq>`: within an epoch only a larger counter moves the
 * cursor, so that a late frame never moves it back; another epoch replaces it, since counters of different epochs
 * cannot be compared. An id of any other form is kept unchanged: only the node can interpret it.
 *
 * @param {string | null} cursor
 * @param {string} seen
 * @returns {string}
 */
export function advance(cursor, seen) {
  const before = split(cursor);
  const now = split(seen);
  if (cursor !== null && before && now && before.epoch === now.epoch && now.seq <= before.seq) return cursor;
  return seen;
}

/** @param {string | null} id */
function split(id) {
  const parts = /^([0-9a-f]+)-([0-9]+)$/.exec(id ?? '');
  return parts && { epoch: parts[1], seq: BigInt(parts[2]) };
}
