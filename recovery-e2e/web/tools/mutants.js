// Makes mutants of the client: each one removes one guard or one reset of a module.
//
//   node tools/mutants.js FILE…            runs the unit tests on each mutant of these files, and lists
//                                          the mutants under which they pass
//   node tools/mutants.js --patches FILE…  prints each of those as a defect for `recovery-e2e run --defect`
//   node tools/mutants.js --list [FILE…]   prints every mutant as one line of JSON and runs no test;
//                                          without FILE: the mutants of all modules of static/recovery
//
// `cargo xtask mutants` runs the end-to-end scenarios on each mutant of `--list`.

import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const WEB = resolve(fileURLToPath(import.meta.url), '../..');

/** Longer than the tests take on a slow machine. A mutant that hangs them counts as noticed. */
const TESTS_DEADLINE_MS = 300_000;

/** @typedef {{start: number, end: number, text: string, what: string, within: string}} Change */

/** What one place of a module can lose. @param {ts.Node} node @returns {[string, string][]} replacement, kind */
function losses(node) {
  if (ts.isIfStatement(node) && !node.elseStatement) return [['{}', 'guard dropped']];
  if (ts.isBinaryExpression(node)) {
    const { AmpersandAmpersandToken, BarBarToken, QuestionQuestionToken } = ts.SyntaxKind;
    if ([AmpersandAmpersandToken, BarBarToken, QuestionQuestionToken].includes(node.operatorToken.kind)) {
      return [[`(${node.left.getText()})`, 'right term dropped'], [`(${node.right.getText()})`, 'left term dropped']];
    }
  }
  if (ts.isConditionalExpression(node)) {
    return [[`(${node.whenTrue.getText()})`, 'always the first'], [`(${node.whenFalse.getText()})`, 'always the second']];
  }
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    const assigns = ts.isBinaryExpression(expression) && expression.operatorToken.kind >= ts.SyntaxKind.FirstAssignment
      && expression.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
    // An assignment in a constructor is no reset: without it nothing runs at all.
    const built = ts.findAncestor(node, ts.isConstructorDeclaration) !== undefined;
    if ((assigns && !built) || ts.isCallExpression(expression)) return [[';', 'statement dropped']];
  }
  return [];
}

/** The name of the function around a node, with its class; empty at the top of a module. @param {ts.Node} node */
function within(node) {
  const names = [];
  for (let parent = node.parent; parent; parent = parent.parent) {
    if (ts.isConstructorDeclaration(parent)) names.unshift('constructor');
    else if ((ts.isFunctionLike(parent) || ts.isClassDeclaration(parent)) && parent.name) names.unshift(parent.name.getText());
  }
  return names.join('.');
}

/** @param {string} text @returns {Change[]} */
function changes(text) {
  const source = ts.createSourceFile('module.js', text, ts.ScriptTarget.Latest, true);
  /** @type {Change[]} */
  const found = [];
  /** @param {ts.Node} node */
  function visit(node) {
    const start = node.getStart();
    for (const [replacement, what] of losses(node)) found.push({ start, end: node.end, text: replacement, what, within: within(node) });
    ts.forEachChild(node, visit);
  }
  visit(source);
  return found;
}

/** Whether a test in these files of the copy fails, all of them in one process. @param {string[]} tests */
function fails(tests) {
  const env = { ...process.env, RECOVERY_SEED: '1', RECOVERY_SEEDS: '200' };
  const script = tests.map((test) => `await import('./tests/${test}');`).join('');
  const args = ['--input-type=module', '--eval', script];
  const run = spawnSync('node', args, { cwd: copy, env, stdio: 'ignore', timeout: TESTS_DEADLINE_MS });
  return run.status !== 0;
}

/** Whether the unit tests of the copy notice what was changed, the quick ones first. */
function isNoticed() {
  const tests = readdirSync(join(copy, 'tests')).filter((name) => name.endsWith('.test.js'));
  const slow = (/** @type {string} */ test) => test.includes('interleavings');
  return fails(tests.filter((test) => !slow(test))) || fails(tests.filter(slow));
}

/**
 * The whole lines around a change, before and after it: a text that occurs once in the module.
 * @param {string} text @param {Change} change
 */
function patch(text, { start, end, text: replacement }) {
  let from = text.lastIndexOf('\n', start) + 1;
  const to = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end);
  while (from > 0 && text.split(text.slice(from, to)).length > 2) from = text.lastIndexOf('\n', from - 2) + 1;
  const find = text.slice(from, to);
  return { find, replace: find.slice(0, start - from) + replacement + find.slice(end - from) };
}

/** Whether a module can be parsed. @param {string} text */
function isModule(text) {
  return ts.transpileModule(text, { reportDiagnostics: true, compilerOptions: { target: ts.ScriptTarget.Latest } }).diagnostics?.length === 0;
}

/** Every mutant of a module as a line of JSON; two changes that make the same edit are one mutant. @param {string} file */
function list(file) {
  const text = readFileSync(join(WEB, file), 'utf8');
  const seen = new Set();
  /** How often each change of a function was seen: the same statement may occur in it twice. @type {Map<string, number>} */
  const counts = new Map();
  for (const change of changes(text)) {
    const { find, replace } = patch(text, change);
    const line = text.slice(0, change.start).split('\n').length;
    if (text.split(find).length !== 2) throw new Error(`${file}:${line}: the text of a mutant must occur once`);
    if (!isModule(text.replace(find, () => replace))) throw new Error(`${file}:${line}: a mutant (${change.what}) is no module`);
    const edits = [{ asset: `/${file}`, find, replace }];
    const id = `${basename(file, '.js')}-${createHash('sha256').update(JSON.stringify(edits)).digest('hex').slice(0, 8)}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const { what, start, end } = change;
    const lost = text.slice(start, end);
    const key = [change.within, what, lost].join('\n');
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const within = count === 1 ? change.within : `${change.within} (${count})`;
    console.log(JSON.stringify({ id, file: basename(file), line, within, what, text: lost, edits }));
  }
}

const args = process.argv.slice(2);
const mode = args[0]?.startsWith('--') ? args.shift() : undefined;
if (mode !== undefined && !['--list', '--patches'].includes(mode)) {
  console.error(`unknown option ${mode}; there are --list and --patches`);
  process.exit(2);
}
const recovery = readdirSync(join(WEB, 'static/recovery')).sort().map((name) => join('static/recovery', name));
const files = args.length === 0 && mode === '--list' ? recovery : args.map((file) => relative(WEB, resolve(file)));
if (files.length === 0) {
  console.error('name the modules to change, such as static/recovery/core.js');
  process.exit(2);
}
if (mode === '--list') {
  for (const file of files) list(file);
  process.exit(0);
}

const copy = mkdtempSync(join(tmpdir(), 'recovery-mutants-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(1));
for (const part of ['static', 'tests', 'package.json']) cpSync(join(WEB, part), join(copy, part), { recursive: true });
if (isNoticed()) {
  console.error('the unit tests fail without any mutant; fix them first');
  process.exit(1);
}

let survivors = 0;
let all = 0;
for (const file of files) {
  const text = readFileSync(join(WEB, file), 'utf8');
  for (const change of changes(text)) {
    all += 1;
    writeFileSync(join(copy, file), text.slice(0, change.start) + change.text + text.slice(change.end));
    if (isNoticed()) continue;
    survivors += 1;
    const line = text.slice(0, change.start).split('\n').length;
    if (mode === '--patches') console.log(JSON.stringify([{ asset: `/${file}`, ...patch(text, change) }]));
    else console.log(`${file}:${line} ${change.what}: ${text.slice(change.start, change.end).split('\n')[0]}`);
  }
  writeFileSync(join(copy, file), text);
}
console.error(`${all} mutants, ${survivors} not noticed by the unit tests`);
