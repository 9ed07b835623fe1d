import type { Query, Suite } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { finalText, toolNames } from '../trace/selectors.ts';
import type { Surroundings } from './plan-mutants.ts';

/** What the recordings of a suite know together: every tool, every answer. */
export class SuiteWorld {
  readonly #tools = new Set<string>();
  readonly #answers = new Map<string, string>();
  readonly #named: ReadonlyMap<string, readonly string[]>;

  constructor(suite: Suite, recordings: Iterable<readonly [string, readonly Trace[]]>) {
    this.#named = new Map(suite.queries.map((query) => [query.id, toolsNamedIn(query)]));
    for (const names of this.#named.values()) for (const name of names) this.#tools.add(name);
    for (const [id, traces] of recordings)
      for (const trace of traces) {
        for (const name of toolNames(trace)) this.#tools.add(name);
        const answer = finalText(trace);
        if (answer !== undefined && answer.trim() !== '') this.#answers.set(id, answer);
      }
  }

  around(query: Query, trace: Trace): Surroundings {
    const own = new Set(toolNames(trace));
    const answer = finalText(trace);
    // What the query itself names comes first: a rule against a tool should be tried with that tool.
    const tools = [...new Set([...(this.#named.get(query.id) ?? []), ...[...this.#tools].sort()])];
    return {
      query,
      otherTools: tools.filter((name) => !own.has(name)),
      otherAnswers: [...this.#answers]
        .filter(([id, text]) => id !== query.id && text !== answer)
        .map(([, text]) => text),
    };
  }
}

/** The tools that checks and policies of a query speak of; of a pattern, a name that it matches. */
function toolsNamedIn({ path, policies }: Query): string[] {
  const names = new Set<string>();
  for (const key of ['forbidden_tools', 'expected_tools', 'expected_tool_sequence'] as const) {
    const list = path?.[key];
    if (Array.isArray(list)) for (const entry of list) for (const name of namesIn(entry, 0, true)) names.add(name);
  }
  for (const name of namesIn(path?.rules)) names.add(name);
  for (const policy of policies ?? []) for (const name of namesIn(policy)) names.add(name);
  return [...names];
}

const TOOL_KEYS = new Set([
  'tool',
  'tools',
  'then',
  'first',
  'after',
  'before',
  'trigger',
  'deny',
  'blocklist',
  'sequence',
]);
const MAX_DEPTH = 8;

/** Texts under keys that hold tool names, wherever they are in a rule. */
function namesIn(value: unknown, depth = 0, isTool = false): string[] {
  if (typeof value === 'string') return isTool ? [value.replace(/\*+/g, 'all').replace(/\?/g, 'x')].filter(isName) : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => namesIn(item, depth + 1, isTool));
  return Object.entries(value).flatMap(([key, item]) => namesIn(item, depth + 1, TOOL_KEYS.has(key)));
}

const isName = (value: string): boolean => /^[\w.:/-]{1,128}$/.test(value);
