// Finds the newest results of the branch that a pull request goes into, so that the comment can say what changed. Without them
// the comment is about this run alone; nothing here is a verdict.
import { appendFileSync } from 'node:fs';

const { env } = process;

try {
  const run = await findRun();
  if (run === undefined) console.log(`no results of ${env.GITHUB_BASE_REF || 'a base branch'} to compare with`);
  else if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `run-id=${run}\n`);
} catch (error) {
  console.log(`the results of the base branch were not found: ${String(error.message).replace(/[\r\n]+/g, ' ')}`);
}

async function findRun() {
  const branch = env.GITHUB_BASE_REF;
  if (!branch) return undefined;
  const name = encodeURIComponent(`${env.AGENTCI_NAME}-results`);
  const url = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/actions/artifacts?per_page=100&name=${name}`;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${env.GITHUB_TOKEN}`, accept: 'application/vnd.github+json' },
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const { artifacts } = await response.json();
  const own = (artifacts ?? []).filter(
    ({ expired, workflow_run: run }) =>
      !expired &&
      run?.head_branch === branch &&
      // A fork may have a branch of the same name.
      run.head_repository_id === run.repository_id,
  );
  own.sort((a, b) => String(b.created_at).localeCompare(String(a.created_at)));
  const id = own[0]?.workflow_run.id;
  return Number.isInteger(id) ? id : undefined;
}
