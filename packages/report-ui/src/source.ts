import type {
  PageBefore,
  PageData,
  PageEvidence,
  PageRun,
  PageRunUpdate,
  PageTrends,
  PageVersion,
  QueryResult,
} from '@agentci/results';

/** The page's data: from its elements, or from the server of `agentci view`. */
export const data: PageData = readElement('agentci-data') ?? {
  schema: 'agentci.page/1',
  version: '',
  notes: [],
};

function readElement<T>(id: string): T | undefined {
  const text = document.getElementById(id)?.textContent;
  return text ? (JSON.parse(text) as T) : undefined;
}

const places = new Map((data.evidence ?? []).map((id, index) => [id, index]));
const known = new Map<string, PageEvidence>();

/** The steps of a query's repeats. Parsed on demand, because most queries are never opened. */
export async function evidenceOf(runId: string, id: string): Promise<PageEvidence | undefined> {
  const key = `${runId}\n${id}`;
  const before = known.get(key);
  if (before) return before;
  // A report file only has the recordings of its run.
  const index = runId === data.run?.run_id ? places.get(id) : undefined;
  let found: PageEvidence | undefined;
  if (data.live)
    found = await get(`api/run/${encodeURIComponent(runId)}/evidence?id=${encodeURIComponent(id)}`);
  else if (index !== undefined) found = readElement(`evidence-${index}`);
  if (found) known.set(key, found);
  return found;
}

export const fetchRuns = (): Promise<PageRun[] | undefined> => get('api/runs');

const commands = new Map<string, string>();

export async function fetchRun(id: string, from: number): Promise<PageRunUpdate | undefined> {
  const update = await get<PageRunUpdate>(`api/run/${encodeURIComponent(id)}?from=${from}`);
  if (update?.command !== undefined) commands.set(id, update.command);
  return update;
}

/** The command of a run, if known. */
export const commandOf = (runId: string): string | undefined =>
  commands.get(runId) ?? (runId === data.run?.run_id ? data.command : undefined);

/** Loads an agent's trends from the history. */
export const fetchTrends = (agent: string, branch: string): Promise<PageTrends | undefined> =>
  get(`api/trends?${new URLSearchParams({ agent, branch }).toString()}`);

/** Loads a complete query of a large run. */
export const fetchResult = (runId: string, id: string): Promise<QueryResult | undefined> =>
  get(`api/run/${encodeURIComponent(runId)}/result?id=${encodeURIComponent(id)}`);

export const fetchBefore = (before: string, after: string): Promise<PageBefore | undefined> =>
  get(`api/compare?before=${encodeURIComponent(before)}&after=${encodeURIComponent(after)}`);

/** Loads the baseline versions available for comparison. */
export const fetchVersions = (): Promise<PageVersion[] | undefined> => get('api/versions');

async function get<T>(path: string): Promise<T | undefined> {
  const response = await fetch(path, { cache: 'no-store' });
  return response.ok ? ((await response.json()) as T) : undefined;
}
