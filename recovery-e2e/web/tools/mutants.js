// Which guards and resets of the client could be lost without anything noticing?
//
//   node tools/mutants.js FILE…            changes each guard and reset of these files in turn, runs
//                                          the unit tests on each, and lists those that pass
//   node tools/mutants.js --patches FILE…  prints each survivor as a defect for `recovery-e2e run --defect`
//
// A mutant that no unit test notices needs one, or a scenario that fails under it, or a reason.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const WEB = resolve(fileURLToPath(import.meta.url), '../..');

/** Longer than the tests take on a slow machine: a mutant that hangs them is noticed too. */
const PATIENCE_MS = 300_000;

/** @typedef {{start: number, end: number, text: string, what: string}} Change */

/** What may be lost at one place of a module. @param {ts.Node} node @returns {[string, string][]} replacement, kind */
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
    // What a constructor keeps is no reset: without it nothing runs at all.
    const built = ts.findAncestor(node, ts.isConstructorDeclaration) !== undefined;
    if ((assigns && !built) || ts.isCallExpression(expression)) return [[';', 'statement dropped']];
  }
  return [];
}

/** @param {string} text @returns {Change[]} */
function changes(text) {
  const source = ts.createSourceFile('module.js', text, ts.ScriptTarget.Latest, true);
  /** @type {Change[]} */
  const found = [];
  /** @param {ts.Node} node */
  function visit(node) {
    const start = node.getStart();
    for (const [replacement, what] of losses(node)) found.push({ start, end: node.end, text: replacement, what });
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
  const run = spawnSync('node', args, { cwd: copy, env, stdio: 'ignore', timeout: PATIENCE_MS });
  return run.status !== 0;
}

/** Whether the unit tests of the copy notice what was changed, the quick ones first. */
function isNoticed() {
  const tests = readdirSync(join(copy, 'tests')).filter((name) => name.endsWith('.test.js'));
  const slow = (/** @type {string} */ test) => test.includes('interleavings');
  return fails(tests.filter((test) => !slow(test))) || fails(tests.filter(slow));
}

/**
 * The whole lines around a change, before and after it: a text that stands in the module once.
 * @param {string} text @param {Change} change
 */
function patch(text, { start, end, text: replacement }) {
  let from = text.lastIndexOf('\n', start) + 1;
  const to = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end);
  while (from > 0 && text.split(text.slice(from, to)).length > 2) from = text.lastIndexOf('\n', from - 2) + 1;
  const find = text.slice(from, to);
  return { find, replace: find.slice(0, start - from) + replacement + find.slice(end - from) };
}

const args = process.argv.slice(2);
const asPatches = args[0] === '--patches';
const files = (asPatches ? args.slice(1) : args).map((file) => relative(WEB, resolve(file)));
if (files.length === 0) {
  console.error('name the modules to change, such as static/recovery/core.js');
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'recovery-mutants-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(1));
for (const part of ['static', 'tests', 'package.json']) cpSync(join(WEB, part), join(copy, part), { recursive: true });
if (isNoticed()) {
  console.error('the unit tests fail without any change; mend them first');
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
    if (asPatches) console.log(JSON.stringify([{ asset: `/${file}`, ...patch(text, change) }]));
    else console.log(`${file}:${line} ${change.what}: ${text.slice(change.start, change.end).split('\n')[0]}`);
  }
  writeFileSync(join(copy, file), text);
}
console.error(`${all} mutants, ${survivors} not noticed by the unit tests`);
