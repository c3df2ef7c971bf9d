/** The measurement itself, in Node and in a page. */

/** Numbers of rows beside which a frame is measured. */
export const ROWS = [10, 100, 1_000, 10_000];

/** Frames of one sample: enough for a coarse clock to see them. */
const FRAMES = 50;
const SAMPLES = 15;

/** A history of this many rows: user turns, and answers to them. */
export function messagesOf(rows) {
  return Array.from({ length: rows }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant', row_id: `r${at}`, content: `Row ${at} with some text.`,
  }));
}

/**
 * The median cost of one frame of text, in microseconds, for each of ROWS. Each sample streams a row of its own, so
 * that the length of a text has no part in it.
 * @param {(rows: number) => (frame: object) => void} setUp
 * @param {() => void} [draw] what ends a sample
 */
export function costs(setUp, draw = () => {}) {
  return ROWS.map((rows) => {
    const apply = setUp(rows);
    const samples = Array.from({ length: SAMPLES }, (_, sample) => {
      const row_id = `live${sample}`;
      apply({ type: 'content', row_id, text: 'The first words of an answer' });
      draw();
      const begin = performance.now();
      for (let at = 0; at < FRAMES; at += 1) apply({ type: 'content', row_id, text: '.' });
      draw();
      return ((performance.now() - begin) * 1000) / FRAMES;
    });
    return samples.sort((a, b) => a - b)[SAMPLES >> 1];
  });
}
