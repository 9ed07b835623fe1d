// Replaces a language model: decides the next call from the tool results so far.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';
import { isMutation, MUTATIONS } from './mutations.ts';

/** A previous call with its result. */
interface Seen {
  readonly key: string;
  readonly result: string;
}

/** The scripted decisions, without or with one of the faults in `mutations.ts`. */
export function think(mutation?: string): (request: ScriptedRequest) => ScriptedReply {
  const fault = isMutation(mutation) ? MUTATIONS[mutation] : undefined;
  return (request) => {
    const sound = soundReply(request);
    return fault === undefined ? sound : fault(request, sound);
  };
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

function seenSoFar({ body }: ScriptedRequest): Seen[] {
  const messages = body.messages as readonly ChatMessage[];
  const results = new Map(
    messages.map(({ tool_call_id, content }) => [tool_call_id, content ?? '']),
  );
  return messages
    .flatMap(({ tool_calls = [] }) => tool_calls ?? [])
    .map(({ id, function: { name, arguments: args } }) => {
      const [value] = Object.values(JSON.parse(args) as Record<string, unknown>);
      return { key: `${name} ${String(value)}`, result: results.get(id) ?? '' };
    });
}

const isMissing = (result: string): boolean => result.startsWith('error:');

function soundReply(request: ScriptedRequest): ScriptedReply {
  const question = request.messages.find(({ role }) => role === 'user')?.text ?? '';
  const repo = /repository ([\w-]+)/i.exec(question)?.[1] ?? '';
  const root = `repos/${repo}`;
  const seen = new Map(seenSoFar(request).map(({ key, result }) => [key, result]));
  const look = (name: string, parameter: string, value: string): string | ScriptedReply =>
    seen.get(`${name} ${value}`) ?? { toolCalls: [{ name, args: { [parameter]: value } }] };

  const metadata = look('repo_metadata', 'repo', repo);
  if (typeof metadata !== 'string') return metadata;
  if (isMissing(metadata))
    return { text: `The repository ${repo} does not exist, so there is nothing to say about it.` };
  const listing = look('list_dir', 'path', root);
  if (typeof listing !== 'string') return listing;
  const entries = listing.split('\n');
  const found: Record<string, string> = {};
  const plan = [
    { entry: 'README.md', name: 'read_file', path: `${root}/README.md` },
    { entry: '.github/', name: 'list_dir', path: `${root}/.github/workflows` },
    { entry: 'pyproject.toml', name: 'read_file', path: `${root}/pyproject.toml` },
    { entry: 'tests/', name: 'list_dir', path: `${root}/tests` },
    ...(/licen[cs]e/i.test(question)
      ? [{ entry: 'LICENSE', name: 'read_file', path: `${root}/LICENSE` }]
      : []),
  ];
  for (const { entry, name, path } of plan) {
    if (!entries.includes(entry)) continue;
    const result = look(name, 'path', path);
    if (typeof result !== 'string') return result;
    if (!isMissing(result)) found[entry] = result;
  }
  return { text: report(repo, metadata, found, /licen[cs]e/i.test(question)) };
}

/** Uses only facts from tool results. */
function report(
  repo: string,
  metadata: string,
  found: Readonly<Record<string, string>>,
  asksLicence: boolean,
): string {
  const { files, languages } = JSON.parse(metadata) as {
    files: number;
    languages: Record<string, number>;
  };
  const about = found['README.md']
    ?.split('\n')
    .find((line) => line !== '' && !line.startsWith('#'));
  const python = /requires-python = "([^"]+)"/.exec(found['pyproject.toml'] ?? '')?.[1];
  const workflows = found['.github/']?.split('\n').join(', ');
  const tests = found['tests/']?.split('\n').length;
  const named = Object.entries(languages).map(([language, count]) => `${language} (${count})`);
  return [
    `${repo}: ${about ?? 'no description'}`,
    `Files: ${files}.`,
    `Languages: ${named.join(', ') || 'none found'}${python === undefined ? '' : `, Python ${python}`}.`,
    `Tests: ${tests === undefined ? 'none found' : `${tests} in tests`}.`,
    `CI: ${workflows === undefined ? 'none found' : `GitHub Actions (${workflows})`}.`,
    ...(asksLicence ? [`Licence: ${found.LICENSE?.split('\n')[0] ?? 'none found'}.`] : []),
  ].join(' ');
}
