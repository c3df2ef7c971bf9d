// What does one frame of text cost beside many rows?
//
//   node tools/frame_cost.js                     the values of a pane, and its list of nodes over a fake DOM
//   node tools/frame_cost.js --browser PROGRAM   the real views and layout, in a headless Chromium
//
// Prints the median cost of one frame for each number of rows, and its ratio to the cost beside the fewest.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Messages } from '../static/pane/render.js';
import { Transcript } from '../static/pane/transcript.js';
import { FakeDom } from '../tests/support/dom.js';
import { ROWS, costs, messagesOf } from './frame_cost_core.js';

const WEB = resolve(fileURLToPath(import.meta.url), '../..');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Longer than the measurement takes on a slow machine. */
const BROWSER_DEADLINE_MS = 120_000;

function ofTranscript(rows) {
  const transcript = new Transcript();
  transcript.replace(messagesOf(rows), true);
  return (frame) => transcript.apply(frame);
}

function ofList(rows) {
  const messages = new Messages(() => {}, () => ({ el: document.createElement('div'), show() {} }));
  messages.render(messagesOf(rows), true);
  return (frame) => messages.paint(frame);
}

/** @param {string} title @param {number[]} micros of one frame, for each of ROWS */
function print(title, micros) {
  console.log(`\n${title}\n${'rows'.padStart(8)}${'µs/frame'.padStart(12)}${'ratio'.padStart(9)}`);
  ROWS.forEach((rows, at) => {
    const ratio = (micros[at] / micros[0]).toFixed(1);
    console.log(`${String(rows).padStart(8)}${micros[at].toFixed(2).padStart(12)}${ratio.padStart(9)}`);
  });
}

/** Runs the measuring page in a browser. @param {string} program @returns {Promise<Record<string, number[]>>} */
async function inBrowser(program) {
  const profile = mkdtempSync(join(tmpdir(), 'recovery-frame-cost-'));
  const server = createServer();
  await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
  const url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  // The page is the only one that asks, and it is this program's own: no sandbox is needed.
  const options = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`];
  const browser = spawn(program, [...options, '--window-size=1440,900', `${url}/tools/frame_cost.html`], { stdio: 'ignore' });
  let deadline;
  try {
    return await new Promise((measured, failed) => {
      const late = () => failed(new Error(`${program} has not measured within ${BROWSER_DEADLINE_MS} ms`));
      deadline = setTimeout(late, BROWSER_DEADLINE_MS);
      browser.on('error', (error) => failed(new Error(`cannot start ${program}: ${error.message}`)));
      browser.on('exit', (code) => failed(new Error(`${program} ended with ${code} before it had measured`)));
      server.on('request', (request, response) => {
        if (request.method === 'POST') {
          let body = '';
          request.on('data', (part) => (body += part));
          request.on('end', () => measured(JSON.parse(body)));
          return response.end();
        }
        serve(new URL(request.url ?? '/', url).pathname, response);
      });
    });
  } finally {
    clearTimeout(deadline);
    const ended = new Promise((done) => browser.on('exit', done));
    if (browser.exitCode === null && browser.kill('SIGKILL')) await ended;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** @param {string} path @param {import('node:http').ServerResponse} response */
function serve(path, response) {
  const file = resolve(WEB, `.${path}`);
  try {
    const text = readFileSync(file);
    const isolated = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', ...isolated });
    response.end(text);
  } catch {
    response.writeHead(404).end();
  }
}

const [flag, program] = process.argv.slice(2);
if (flag === undefined) {
  print('Values of the pane', costs(ofTranscript));
  const dom = FakeDom.install();
  print('List of nodes, fake DOM', costs(ofList, () => dom.draw()));
  dom.restore();
} else if (flag === '--browser' && program) {
  for (const [title, micros] of Object.entries(await inBrowser(program))) print(title, micros);
} else {
  console.error('usage: node tools/frame_cost.js [--browser PROGRAM]');
  process.exit(2);
}
