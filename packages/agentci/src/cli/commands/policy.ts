import { resolve } from 'node:path';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { measureCoverage } from '../../policy-command/coverage.ts';
import { testExamples } from '../../policy-command/examples.ts';
import { explainTraces } from '../../policy-command/explain.ts';
import { learnPolicy } from '../../policy-command/generate.ts';
import { FORMATS, type PolicyOptions } from '../../policy-command/load-policy.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';

const ACTIONS = ['explain', 'coverage', 'generate', 'test'] as const;

export const command: CliCommand = {
  name: 'policy',
  summary: 'explain, test, measure or learn a policy',
  configure: (parser: Command) => {
    parser
      .argument('<action>', 'explain, coverage, generate or test')
      .argument(
        '[recordings]',
        'like --traces, for explain also the audit of a guard, for test the policy',
      )
      .option('-p, --policy <file>', 'the policy')
      .option('--traces <path>', 'the recordings: a file or a folder')
      .option('--trace-format <format>', 'format of the recordings (default: detected)')
      .addOption(new Option('-f, --format <format>', 'form of explain').choices(FORMATS))
      .option('--json', 'print JSON')
      .option('-o, --output <file>', 'write into a file instead of stdout')
      .option('--min-coverage <percent>', 'coverage: exit 1 below this', percentage)
      .option('--force', 'generate: write over an existing file')
      .option('--strict', 'explain: a tool the policy does not know is blocked')
      .addHelpText(
        'after',
        `
explain   a timeline of each trace: every call allowed, blocked or unknown, and by which line of the policy
          with the audit of \`agentci guard\`: every decision of it, made again by the policy
coverage  how much of the policy the traces put to the test
generate  a starter policy that accepts the traces it was learned from
test      the policy's own examples: each must be allowed or denied as it says

Exit: 0 nothing blocked, 1 something blocked or the coverage too low, 2 could not tell.

Examples:
  agentci policy explain -p policy.yaml --traces traces.jsonl
  agentci policy explain audit.jsonl
  agentci policy coverage -p policy.yaml --traces traces/ --min-coverage 80
  agentci policy generate --traces traces/ -o policy.yaml
  agentci policy test policy.yaml`,
      );
  },
  run: async ({ args, options, io }: CommandInput) => {
    const [action = '', traces] = args;
    const given: PolicyOptions = { traces, ...options };
    const known = ACTIONS.find((each) => each === action);
    if (known === undefined) {
      const near = didYouMean(action, ACTIONS);
      throw new UserError('OPTION_INVALID', `policy cannot "${action}"`, {
        hint: near === undefined ? `it can ${ACTIONS.join(', ')}` : `did you mean "${near}"?`,
      });
    }
    const { text, code } = await RUN[known](given, io);
    if (given.output === undefined) io.stdout.write(text);
    else writeFileAtomic(resolve(io.cwd, given.output), text);
    return code;
  },
};

const RUN = {
  explain: explainTraces,
  coverage: measureCoverage,
  generate: learnPolicy,
  test: testExamples,
};

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 100)
    throw new InvalidArgumentError('it must be a number from 0 to 100.');
  return value;
}
