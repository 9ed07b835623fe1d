import { isFields } from '@agentci/trace';

/**
 * Files with expectations: eval sets, goldens, datasets. They resemble recordings, and judged as
 * such they would always pass.
 */
const KINDS: readonly {
  readonly name: string;
  readonly is: (value: Readonly<Record<string, unknown>>) => boolean;
}[] = [
  { name: 'an ADK eval set', is: (value) => Array.isArray(value.eval_cases) },
  {
    name: 'an ADK test file',
    is: (value) => 'expected_tool_use' in value || 'expected_intermediate_agent_responses' in value,
  },
  {
    name: 'a DeepEval golden',
    is: (value) =>
      ('expected_output' in value || 'expected_tools' in value || 'expected_outcome' in value) &&
      ('input' in value || 'scenario' in value) &&
      !isSaid(value.actual_output) &&
      !isSaid(value.actualOutput) &&
      !isSaid(value.turns) &&
      !isSaid(value.tools_called),
  },
  {
    name: 'an OpenAI evals sample',
    is: (value) => 'ideal' in value && 'input' in value && !('output' in value),
  },
  {
    name: 'an Inspect sample',
    is: (value) =>
      'input' in value && 'target' in value && !('messages' in value) && !('output' in value),
  },
  {
    name: 'a LangSmith example',
    is: (value) => 'dataset_id' in value && isFields(value.inputs) && !('run_type' in value),
  },
  {
    name: 'a dataset of pydantic_evals',
    is: ({ cases }) =>
      Array.isArray(cases) &&
      cases.length > 0 &&
      cases.every((item) => isFields(item) && 'inputs' in item && !('output' in item)),
  },
  {
    name: 'a promptfoo config',
    is: (value) =>
      Array.isArray(value.tests) &&
      ('prompts' in value || 'providers' in value) &&
      !('results' in value),
  },
];

const isSaid = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0);

/** The problem of a record with expectations instead of a run. Undefined for other records. */
export function expectationsIn(
  value: unknown,
): { readonly code: string; readonly message: string } | undefined {
  if (!isFields(value)) return undefined;
  const kind = KINDS.find(({ is }) => is(value));
  return kind === undefined
    ? undefined
    : {
        code: 'TRACE_EXPECTATIONS',
        message: `the record is ${kind.name}: it says what should happen, not what happened; write its cases as queries of a spec and record a run of the agent`,
      };
}
