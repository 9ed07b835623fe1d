import { type Fields, isFields } from '@agentci/trace';
import type { Draft, DraftTool } from '../../build/draft.ts';
import { sumUsage } from '../../build/usage.ts';
import { amount, fields, label, text } from '../../build/values.ts';

/** The output of `gemini --output-format json`: the answer, and usage counts. */
export const isOutput = (value: unknown): boolean =>
  isFields(value) &&
  (typeof value.response === 'string' || isFields(value.error)) &&
  isFields(value.stats) &&
  isFields(value.stats.models) &&
  isFields(value.stats.tools);

const MAX_CALLS = 10_000;

/** Calls by name and count. Their order, arguments and results are missing. */
export function outputDraft(output: Fields, format: string): Draft {
  const { models, tools } = fields(output.stats);
  const used = Object.values(fields(models)).map(fields);
  const requests = used.map(({ api }) => amount(fields(api).totalRequests));
  const usage = sumUsage(
    used.map(({ tokens }) => {
      const { prompt, input, candidates, thoughts, total, cached } = fields(tokens);
      const said = amount(candidates);
      return {
        input: amount(prompt) ?? amount(input),
        output: said === undefined ? undefined : said + (amount(thoughts) ?? 0),
        total: amount(total),
        cacheRead: amount(cached),
      };
    }),
  );
  const steps = Object.entries(fields(fields(tools).byName)).flatMap(
    ([name, counts]): DraftTool[] => {
      const { count, fail } = fields(counts);
      const failed = amount(fail) ?? 0;
      const times = Math.min(amount(count) ?? 1, MAX_CALLS);
      return Array.from({ length: times }, (_, i) => ({
        kind: 'tool',
        name,
        status: i < failed ? 'error' : 'ok',
      }));
    },
  );
  const counted = amount(fields(tools).totalCalls);
  const llmCalls = requests.every((count) => count !== undefined)
    ? requests.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    : undefined;
  const failure = isFields(output.error) ? label(output.error.message) : undefined;
  const said = text(output.response);
  return {
    source: { format, dialects: ['output'] },
    steps,
    records: { toolCalls: 'full', toolErrors: 'full' },
    empty: counted === 0 ? ['toolCalls'] : [],
    reported: { usage, llmCalls },
    id: label(output.session_id),
    counts: counted === undefined ? undefined : { toolCalls: counted },
    final: said === undefined || said === '' ? undefined : { text: said },
    status: failure === undefined ? undefined : ('error' as const),
    error: failure === undefined ? undefined : { message: failure },
  };
}
