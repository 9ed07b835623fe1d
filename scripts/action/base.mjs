// Finds the newest results of a pull request's target branch, so that the comment can show changes.
// Without them, the comment only covers this run, and no verdict depends on it. For a shard, finds
// the run whose timings the plan uses: one from before the start of this workflow run, so that
// every shard, restarted or not, finds the same.
import { appendFileSync } from 'node:fs';
import { fetchJson } from './fetch-json.mjs';

const { env } = process;

try {
  const run = await findRun();
  if (run === undefined)
    console.log(`no results of ${env.GITHUB_BASE_REF || 'a base branch'} to compare with`);
  else if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `run-id=${run}\n`);
} catch (error) {
  console.log(
    `the results of the base branch were not found: ${String(error.message).replace(/[\r\n]+/g, ' ')}`,
  );
}

async function findRun() {
  const isShard = env.AGENTCI_FOR_SHARD === 'true';
  const branch = env.GITHUB_BASE_REF || (isShard ? env.GITHUB_REF_NAME : '');
  if (!branch) return undefined;
  const until = isShard ? await startOfThisRun() : undefined;
  const name = encodeURIComponent(`${env.AGENTCI_NAME}-results`);
  const url = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/actions/artifacts?per_page=100&name=${name}`;
  const { artifacts } = await ask(url);
  const own = (artifacts ?? []).filter(
    ({ expired, created_at: at, workflow_run: run }) =>
      !expired &&
      (until === undefined || String(at) < until) &&
      run?.head_branch === branch &&
      // A fork may have a branch with the same name.
      run.head_repository_id === run.repository_id,
  );
  own.sort((a, b) => String(b.created_at).localeCompare(String(a.created_at)));
  const id = own[0]?.workflow_run.id;
  return Number.isInteger(id) ? id : undefined;
}

/** Unchanged if jobs of the run are restarted. */
async function startOfThisRun() {
  const { created_at: at } = await ask(
    `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`,
  );
  if (typeof at !== 'string') throw new Error('when this run began is not known');
  return at;
}

function ask(url) {
  return fetchJson(url, { token: env.GITHUB_TOKEN });
}
