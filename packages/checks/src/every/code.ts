import type { Problem } from '@agentci/lib/problems';
import { type Infer, v } from '@agentci/lib/values';
import { type Ask, type CheckOutcome, defineCheck, held, unmeasured, violated } from '../check.ts';
import { emptyListIssue } from '../issues.ts';
import { listed, plural } from '../words.ts';

const MAX_TIMEOUT_MS = 600_000;
const argument = v.string().regex(/^[^\0]*$/, 'a program cannot be given a null byte');
const limits = {
  timeout_ms: v
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Time one verdict may take (default: 10000)'),
  env: v
    .array(v.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'))
    .optional()
    .describe('Environment variables it gets in addition to PATH, HOME, LANG and the like'),
};
const moduleText = v
  .string()
  .regex(/\S/)
  .describe('Path of a module and, after #, its export: ./checks/tone.ts#isPolite');
const entry = v.union([
  moduleText,
  v.strictObject({ module: moduleText, ...limits }),
  v.strictObject({
    command: v
      .array(argument)
      .min(1)
      .describe('Program and its arguments; the run is on its stdin, its verdict on stdout'),
    ...limits,
  }),
]);

export type CodeItem = Infer<typeof entry>;

const itemsIn = (written: CodeItem | readonly CodeItem[]): readonly CodeItem[] =>
  Array.isArray(written) ? written : [written as CodeItem];

/** Its name in messages. */
export const codeName = (item: CodeItem): string => {
  if (typeof item === 'string') return item;
  if ('module' in item) return item.module;
  return item.command.join(' ');
};

const NOT_RUN = unmeasured('code was not run', { severity: 'fail' });

export const check = defineCheck<CodeItem | readonly CodeItem[]>({
  layer: 'every',
  key: 'code',
  severity: 'layer',
  order: 935,
  summary: 'A function of yours, or a program, must give the verdict pass.',
  wants: (entries) => `A pass from ${listed(itemsIn(entries).map(codeName))}`,
  failure: {
    why: 'your own check said fail',
    help: 'its message is in the report. Return one with the reason',
  },
  example: [
    './examples/tone.ts#isPolite',
    { module: './examples/tone.ts#isShort', timeout_ms: 2000 },
    { command: ['python3', 'examples/check.py'], env: ['PYTHONIOENCODING'] },
  ],
  schema: v.union([entry, v.array(entry)]),
  inspect: (written) =>
    Array.isArray(written) && written.length === 0
      ? [emptyListIssue('code')]
      : commandIssues(written),
  asks: (written) => itemsIn(written).map((item): Ask => ({ kind: 'code', item, key: 'code' })),
  evaluate: (written, { asked }) => {
    const items = itemsIn(written);
    const seen = items.map((item) => asked?.get(item) ?? NOT_RUN);
    const limit = items.length;
    const first = (outcome: CheckOutcome['outcome']): number =>
      seen.findIndex((one) => one.outcome === outcome);
    const item = [first('violated'), first('unmeasured')].find((at) => at >= 0);
    const value = seen.filter(({ outcome }) => outcome === 'held').length;
    if (item === undefined)
      return held(limit === 1 ? seen[0]!.message : `code: ${plural(limit, 'verdict')} say pass`, {
        value: seen[0]!.value ?? value,
        limit,
      });
    const { outcome, message, severity, value: given } = seen[item]!;
    const rest = {
      limit,
      item: Array.isArray(written) ? item : undefined,
      severity,
      value: given ?? value,
    };
    const broken = seen.find((one) => one.outcome === 'unmeasured' && one.severity === 'fail');
    return outcome === 'violated'
      ? violated(message, { ...rest, graver: broken })
      : unmeasured(message, rest);
  },
});

function commandIssues(written: CodeItem | readonly CodeItem[]): Problem[] {
  return itemsIn(written).flatMap((item, i): Problem[] => {
    if (typeof item === 'string' || !('command' in item) || /\S/.test(item.command[0]!)) return [];
    const path = Array.isArray(written) ? [i, 'command', 0] : ['command', 0];
    return [
      { code: 'SPEC_EMPTY', message: 'the first item is the program to run; it is blank', path },
    ];
  });
}
