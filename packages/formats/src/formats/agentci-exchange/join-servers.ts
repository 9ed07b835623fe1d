import type { Call, DraftLlm, DraftStep, DraftTool, Turn } from '../../build/draft.ts';

/** A tool of an MCP server, as its tap knows it. */
interface ServedTool {
  readonly server: string;
  readonly name: string;
}

/** Frameworks join the names in their own ways and replace characters that a provider does not take. */
const keyOf = (...parts: readonly string[]): string =>
  parts
    .join('')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * Renames tools from the model's spelling (`SERVER_TOOL`, `SERVER__TOOL`, `SERVER-TOOL`,
 * `mcp_SERVER_TOOL`) to the server's, so that a tapped call and the requested one are joined. An
 * ambiguous name stays, and so does one that is also requested by its plain name.
 */
export function withServers<D extends DraftStep>(
  steps: readonly D[],
  tapped: readonly DraftTool[],
): readonly D[] {
  const tools = servedTools(steps, tapped);
  if (tools.size === 0) return steps;
  const servedBy = (name: string): ServedTool | undefined => tools.get(keyOf(name));
  const callOf = <C extends Call | DraftTool>(call: C): C => {
    const served = servedBy(call.name);
    return served === undefined
      ? call
      : { ...call, ...served, rawName: call.rawName ?? call.name, by: call.by ?? ('mcp' as const) };
  };
  const turnOf = (turn: Turn): Turn => {
    const served = turn.role === 'tool' ? servedBy(turn.name ?? '') : undefined;
    const calls = turn.calls?.map(callOf);
    return { ...turn, ...(served && { name: served.name }), ...(calls && { calls }) };
  };
  return steps.map((step) => {
    if (step.kind === 'tool') return callOf(step as D & DraftTool);
    if (step.kind !== 'llm' && step.kind !== 'agent') return step;
    const { input, output } = step as DraftLlm;
    return { ...step, input: input?.map(turnOf), output: output && turnOf(output) };
  });
}

/** The tools that taps saw, by the normal form of their joined names. */
function servedTools(
  steps: readonly DraftStep[],
  tapped: readonly DraftTool[],
): ReadonlyMap<string, ServedTool> {
  const bare = new Set(steps.flatMap(namesIn));
  const found = new Map<string, ServedTool | undefined>();
  for (const { name, server } of tapped) {
    if (server === undefined || bare.has(name)) continue;
    for (const key of [keyOf(server, name), keyOf('mcp', server, name)]) {
      const known = found.get(key);
      const isOther = known !== undefined && (known.server !== server || known.name !== name);
      found.set(
        key,
        isOther || (found.has(key) && known === undefined) ? undefined : { server, name },
      );
    }
  }
  return new Map([...found].flatMap(([key, tool]) => (tool === undefined ? [] : [[key, tool]])));
}

function namesIn(step: DraftStep): string[] {
  if (step.kind === 'tool') return [step.name];
  if (step.kind !== 'llm' && step.kind !== 'agent') return [];
  return [...(step.input ?? []), ...(step.output === undefined ? [] : [step.output])].flatMap(
    ({ calls = [] }) => calls.map(({ name }) => name),
  );
}
