// Finds the newest results of the branch that a pull request goes into, so that the comment can say what changed. Without them
// the comment is about this run alone; nothing here is a verdict. For a shard it finds the run whose timings it is planned from: one that
// was there before this workflow run began, so that every shard of it, started again or not, finds the same.
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
      // A fork may have a branch of the same name.
      run.head_repository_id === run.repository_id,
  );
  own.sort((a, b) => String(b.created_at).localeCompare(String(a.created_at)));
  const id = own[0]?.workflow_run.id;
  return Number.isInteger(id) ? id : undefined;
}

/** It stays the same when jobs of the run are started again. */
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
