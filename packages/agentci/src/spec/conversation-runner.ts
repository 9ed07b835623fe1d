import { keyPlace, type YamlEntry } from '../kit/yaml-node.ts';
import { PLACEHOLDER, type RunnerConfig } from '../runners/config.ts';
import type { SpecProblems } from './problems.ts';
import type { Query } from './suite.ts';

/** A runner that would say the same thing in every turn, or could not follow a conversation, is found before it runs. */
export function checkConversationRunner(
  entry: YamlEntry | undefined,
  runner: RunnerConfig | undefined,
  queries: readonly Query[],
  problems: SpecProblems,
): void {
  const first = queries.find(({ conversation }) => conversation !== undefined);
  if (first === undefined || entry === undefined || runner === undefined) return;
  const stateful = queries.find(({ conversation }) => conversation?.session === 'stateful');
  const add = (message: string, hint: string): void =>
    problems.add(keyPlace(entry), { code: 'SPEC_RUNNER_MESSAGE', message, hint });
  if (runner.kind === 'model' && stateful !== undefined)
    add(
      `the conversation "${stateful.id}" is stateful, and a model remembers nothing between two calls`,
      'remove "session: stateful"',
    );
  if (runner.kind !== 'http') return;
  const { method, url, body } = runner.http;
  const isWhole = method !== 'GET' && body === undefined;
  const used = new Set(
    [...`${url} ${JSON.stringify(body) ?? ''}`.matchAll(PLACEHOLDER)].map(([, name]) => name),
  );
  if (!isWhole && !used.has('message') && !used.has('messages'))
    add(
      `the request is the same in every turn of the conversation "${first.id}"`,
      'put {{messages}} (the whole history) or {{message}} (the newest one) into it',
    );
  if (stateful !== undefined && used.has('messages'))
    add(
      `the conversation "${stateful.id}" is stateful, so it has no {{messages}}`,
      'put {{message}} into the request, and {{conversation}} to tell conversations apart',
    );
}
