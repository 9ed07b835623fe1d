// Posts the summary on the pull request, or updates the comment of an earlier run with the same
// author and the same hidden marker on its first line. A comment that cannot be posted is a
// warning, never a verdict.
import { readFileSync } from 'node:fs';
import { fetchJson } from './fetch-json.mjs';

const { env } = process;
const PAGES = 20;

try {
  await comment();
} catch (error) {
  console.log(
    `::warning title=AgentCI::the comment could not be posted: ${String(error.message).replace(/[\r\n]+/g, ' ')}`,
  );
}

async function comment() {
  const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8'));
  const number = event.pull_request?.number;
  if (number === undefined) {
    console.log('not a pull request: no comment');
    return;
  }
  const body = readFileSync(env.AGENTCI_SUMMARY, 'utf8');
  const [marker] = body.split('\n', 1);
  const isSameRun = sameRun(marker);
  const me = await author();
  const comments = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`;
  for (let page = 1; page <= PAGES; page++) {
    const found = await call(`${comments}/${number}/comments?per_page=100&page=${page}`, 'GET');
    const mine = found.find((entry) => entry.user?.login === me && isSameRun(entry.body ?? ''));
    if (mine) {
      await call(`${comments}/comments/${mine.id}`, 'PATCH', { body });
      return;
    }
    if (found.length < 100) break;
  }
  await call(`${comments}/${number}/comments`, 'POST', { body });
}

/**
 * `<!-- agentci:AGENT:SPEC -->`. A run that could not start does not know the agent, so only its
 * spec must match.
 */
function sameRun(marker) {
  const [, agent, spec] = /^<!-- agentci:(.*?):(.*) -->$/.exec(marker) ?? [];
  return (text) => {
    if (text.startsWith(marker)) return true;
    const [, other, itsSpec] = /^<!-- agentci:(.*?):(.*) -->/.exec(text.split('\n', 1)[0]) ?? [];
    return spec !== undefined && itsSpec === spec && (agent === 'not-run' || other === 'not-run');
  };
}

/**
 * The account of the token. A workflow's token may not ask, and posts as the bot of GitHub Actions.
 */
async function author() {
  try {
    return (await call(`${env.GITHUB_API_URL}/user`, 'GET')).login;
  } catch {
    return 'github-actions[bot]';
  }
}

function call(url, method, body) {
  return fetchJson(url, { method, body, token: env.GITHUB_TOKEN });
}
