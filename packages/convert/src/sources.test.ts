import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertFiles } from '@agentci/testing/convert';
import { tempDir } from '@agentci/testing/temp-dir';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { readSuites } from './read-suites.ts';

interface Row {
  readonly from: string;
  readonly file: string;
  readonly content: string | object;
  readonly beside?: Readonly<Record<string, string | object>>;
  readonly map?: Readonly<Record<string, string>>;
  readonly lossy?: boolean;
  readonly verdicts: readonly string[];
  readonly good?: object;
  readonly bad?: object;
}

const lines = (...values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
const call = (name: string, args: object = {}) => ({ name, args });

const ROWS: readonly (Row & { readonly when: string })[] = [
  {
    when: 'Match is a prefix, of any ideal',
    from: 'openai-evals',
    file: 'capitals.yaml',
    content:
      'capitals:\n  id: capitals.v0\ncapitals.v0:\n  class: evals.elsuite.basic.match:Match\n  args: {samples_jsonl: capitals/samples.jsonl}\n',
    beside: {
      'data/capitals/samples.jsonl': lines({
        input: [{ role: 'user', content: 'France?' }],
        ideal: ['Paris', 'paris'],
      }),
    },
    verdicts: ['Match exact'],
    good: { query: 'France?', answer: 'Paris, of course' },
    bad: { query: 'France?', answer: 'It is Paris' },
  },
  {
    when: 'Includes with ignore_case',
    from: 'openai-evals',
    file: 'x.yaml',
    content:
      'x.v0:\n  class: evals.elsuite.basic.includes:Includes\n  args: {samples_jsonl: s.jsonl, ignore_case: true}\n',
    beside: { 's.jsonl': lines({ input: 'q', ideal: 'Berlin' }) },
    verdicts: ['Includes exact'],
    good: { query: 'q', answer: 'in BERLIN!' },
    bad: { query: 'q', answer: 'Bonn' },
  },
  {
    when: 'a custom class is not carried',
    from: 'openai-evals',
    file: 'x.yaml',
    content: 'x.v0:\n  class: my.module:Mine\n  args: {samples_jsonl: s.jsonl}\n',
    beside: { 's.jsonl': lines({ input: 'q', ideal: 'a' }) },
    verdicts: ['my.module:Mine none'],
  },
  {
    when: 'a class of another module is not carried, even if it is called Match',
    from: 'openai-evals',
    file: 'x.yaml',
    content: 'x.v0:\n  class: my.module:Match\n  args: {samples_jsonl: s.jsonl}\n',
    beside: { 's.jsonl': lines({ input: 'q', ideal: 'a' }) },
    verdicts: ['my.module:Match none'],
  },
  {
    when: 'string_check compares the whole answer',
    from: 'openai-evals-api',
    file: 'eval.json',
    content: {
      name: 'tickets',
      data_source_config: { type: 'custom', item_schema: {} },
      testing_criteria: [
        {
          type: 'string_check',
          input: '{{ sample.output_text }}',
          reference: '{{ item.label }}',
          operation: 'eq',
        },
        {
          type: 'string_check',
          input: '{{ sample.output_text }}',
          reference: 'rain',
          operation: 'ne',
        },
        { type: 'python', source: 'x' },
      ],
      data_source: {
        source: {
          type: 'file_content',
          content: [{ item: { text: 'printer', label: 'Hardware' } }],
        },
      },
    },
    map: { input: 'item.text' },
    verdicts: ['string_check exact', 'string_check exact', 'python none'],
    good: { query: 'printer', answer: 'Hardware' },
    bad: { query: 'printer', answer: 'hardware' },
  },
  {
    when: 'tools of a golden must be called',
    from: 'deepeval',
    file: 'goldens.json',
    content: [
      {
        input: 'Refund 42',
        expectedOutput: 'Done',
        expectedTools: [{ name: 'refund', inputParameters: { id: 42 } }],
        additionalMetadata: { team: 'a' },
      },
    ],
    verdicts: ['expected_output close', 'expected_tools close'],
  },
  {
    when: 'tools of a golden, if requested',
    from: 'deepeval',
    file: 'goldens.json',
    content: [
      { input: 'Refund 42', expected_tools: [{ name: 'refund', input_parameters: { id: 42 } }] },
    ],
    lossy: true,
    verdicts: ['expected_tools close'],
    good: {
      query: 'Refund 42',
      answer: 'x',
      tool_calls: [call('look'), call('refund', { id: 42 })],
    },
    bad: { query: 'Refund 42', answer: 'x', tool_calls: [call('refund', { id: 41 })] },
  },
  {
    when: 'an empty list of tools is reported',
    from: 'deepeval',
    file: 'goldens.json',
    content: [{ input: 'Hi', expected_tools: [] }],
    verdicts: ['expected_tools none'],
  },
  {
    when: 'executed test cases are recognized, even if one has only its input',
    from: 'deepeval',
    file: 'cases.json',
    content: {
      test_cases: [
        { input: 'a', name: 'a' },
        { input: 'b', actual_output: 'x', tools_called: [{ name: 't' }] },
      ],
    },
    verdicts: [],
  },
  {
    when: 'the calls of one turn, in order and with their arguments',
    from: 'adk',
    file: 'a.evalset.json',
    content: {
      eval_set_id: 's',
      eval_cases: [
        {
          eval_id: 'lamp',
          conversation: [
            {
              user_content: { parts: [{ text: 'Light on' }] },
              final_response: { parts: [{ text: 'On.' }] },
              intermediate_data: { tool_uses: [{ name: 'set', args: { on: true } }] },
            },
          ],
        },
      ],
    },
    beside: { 'test_config.json': { criteria: { tool_trajectory_avg_score: 0.5 } } },
    verdicts: ['tool_trajectory_avg_score exact'],
    good: { query: 'Light on', answer: 'x', tool_calls: [call('set', { on: true })] },
    bad: { query: 'Light on', answer: 'x', tool_calls: [call('set', { on: true }), call('log')] },
  },
  {
    when: 'match_type IN_ORDER allows others, and the older form is read',
    from: 'adk',
    file: 'b.test.json',
    content: [
      {
        query: 'Roll',
        expected_tool_use: [{ tool_name: 'roll', tool_input: { n: 6 } }],
        reference: 'r',
      },
    ],
    beside: {
      'test_config.json': {
        criteria: { tool_trajectory_avg_score: { threshold: 1, match_type: 'IN_ORDER' } },
      },
    },
    verdicts: ['tool_trajectory_avg_score exact'],
    good: { query: 'Roll', answer: 'x', tool_calls: [call('log'), call('roll', { n: 6 })] },
    bad: { query: 'Roll', answer: 'x', tool_calls: [call('roll', { n: 8 })] },
  },
  {
    when: 'no tool uses mean that none may be made, and without a config the defaults apply',
    from: 'adk',
    file: 'c.evalset.json',
    content: {
      eval_cases: [
        {
          eval_id: 'hi',
          conversation: [
            {
              user_content: { parts: [{ text: 'Hi' }] },
              final_response: { parts: [{ text: 'Hello' }] },
            },
          ],
        },
      ],
    },
    verdicts: ['tool_trajectory_avg_score exact', 'response_match_score close'],
    good: { query: 'Hi', answer: 'x', tool_calls: [] },
    bad: { query: 'Hi', answer: 'x', tool_calls: [call('search')] },
  },
  {
    when: 'superset of agentevals allows others',
    from: 'langsmith',
    file: 'examples.jsonl',
    content: lines({
      inputs: { question: 'Weather?' },
      outputs: {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ function: { name: 'weather', arguments: '{"city":"SF"}' } }],
          },
        ],
      },
    }),
    map: { mode: 'superset' },
    verdicts: ['trajectory superset exact'],
    good: {
      query: 'Weather?',
      answer: 'x',
      tool_calls: [call('time'), call('weather', { city: 'SF' })],
    },
    bad: { query: 'Weather?', answer: 'x', tool_calls: [call('time')] },
  },
  {
    when: 'strict of agentevals, the default, allows none',
    from: 'langsmith',
    file: 'examples.json',
    content: [
      {
        inputs: { question: 'Weather?' },
        outputs: {
          messages: [{ type: 'ai', tool_calls: [{ name: 'weather', args: { city: 'SF' } }] }],
        },
      },
    ],
    verdicts: ['trajectory strict exact'],
    good: { query: 'Weather?', answer: 'x', tool_calls: [call('weather', { city: 'SF' })] },
    bad: {
      query: 'Weather?',
      answer: 'x',
      tool_calls: [call('weather', { city: 'SF' }), call('time')],
    },
  },
  {
    when: 'calls of one message have no order in strict of agentevals',
    from: 'langsmith',
    file: 'examples.json',
    content: [
      {
        inputs: { question: 'Weather?' },
        outputs: {
          messages: [{ type: 'ai', tool_calls: ['a', 'b'].map((name) => ({ name, args: {} })) }],
        },
      },
    ],
    verdicts: ['trajectory strict close'],
  },
  {
    when: 'outputs of an example are compared by a judge',
    from: 'langsmith',
    file: 'd.csv',
    content: 'input_question,output_answer\nWho?,Ada\n',
    verdicts: ['outputs close'],
  },
  {
    when: 'match looks at the end, without case and punctuation',
    from: 'inspect',
    file: 'samples.jsonl',
    content: lines({ input: 'Capital?', target: 'Paris' }),
    map: { scorer: 'match' },
    verdicts: ['match exact'],
    good: { query: 'Capital?', answer: 'It is PARIS!! ' },
    bad: { query: 'Capital?', answer: 'Paris it is' },
  },
  {
    when: 'letters outside of ASCII may fold in another way',
    from: 'inspect',
    file: 'samples.jsonl',
    content: lines({ input: 'Capital?', target: 'Zürich' }),
    map: { scorer: 'includes' },
    verdicts: ['includes close'],
  },
  {
    when: 'a log says its scorer',
    from: 'inspect',
    file: 'log.json',
    content: {
      version: 2,
      eval: { task: 'capitals', scorers: [{ name: 'includes', options: {} }] },
      samples: [
        { id: 1, input: 'Capital?', target: ['Rome', 'Roma'], output: { completion: 'ROMA' } },
      ],
    },
    verdicts: ['includes exact'],
    good: { id: '1', answer: 'in Rome' },
    bad: { id: '1', answer: 'Milan' },
  },
  {
    when: 'evaluators of the dataset and of the case',
    from: 'pydantic-evals',
    file: 'd.yaml',
    content:
      'name: d\ncases:\n- name: one\n  inputs: What?\n  expected_output: Yes\n  evaluators: [EqualsExpected, {Contains: {value: y, case_sensitive: false}}, Custom]\nevaluators: [{MaxDuration: 1.5}]\n',
    verdicts: ['MaxDuration exact', 'EqualsExpected exact', 'Contains exact', 'Custom none'],
    good: { query: 'What?', answer: 'Yes', latency_ms: 1500 },
    bad: { query: 'What?', answer: 'Yes', latency_ms: 1501 },
  },
  {
    when: 'a case without an expected output is reported, and leaves the others exact',
    from: 'pydantic-evals',
    file: 'd.yaml',
    content:
      'name: d\ncases:\n- {name: one, inputs: What?, expected_output: Yes}\n- {name: two, inputs: Who?}\nevaluators: [EqualsExpected]\n',
    verdicts: ['EqualsExpected exact', 'EqualsExpected none'],
    good: { query: 'What?', answer: 'Yes' },
    bad: { query: 'What?', answer: 'No' },
  },
  {
    when: 'classes of a pattern are those of Rust',
    from: 'assay',
    file: 'eval.yaml',
    content:
      "version: 1\nsuite: s\ntests:\n- id: t\n  input: Hi\n  expected: {type: regex_not_match, pattern: '^[[:alpha:]]+ \\w+$'}\n",
    verdicts: ['regex_not_match exact'],
    good: { query: 'Hi', answer: 'é a' },
    bad: { query: 'Hi', answer: 'a é' },
  },
  {
    when: 'a pattern that does not compile in Rust is none',
    from: 'assay',
    file: 'eval.yaml',
    content:
      "version: 1\nsuite: s\ntests:\n- id: t\n  input: Hi\n  expected: {type: regex_match, pattern: 'a(?=b)'}\n",
    verdicts: ['regex_match none'],
  },
  {
    when: 'expectations are case-sensitive, and a list of terms must all be there',
    from: 'assay',
    file: 'eval.yaml',
    content:
      'version: 1\nsuite: s\ntests:\n- id: t\n  input: {prompt: Hi}\n  expected: {type: must_contain, must_contain: [A, b]}\n  assertions: [{type: trace_must_not_call_tool, tool: rm}]\n',
    verdicts: ['must_contain exact', 'trace_must_not_call_tool exact'],
    good: { query: 'Hi', answer: 'A b', tool_calls: [] },
    bad: { query: 'Hi', answer: 'a b', tool_calls: [] },
  },
  {
    when: 'a policy is put into the spec',
    from: 'assay',
    file: 'eval.yaml',
    content:
      'version: 1\nsuite: s\ntests:\n- id: t\n  input: Hi\n  expected: {type: args_valid, policy: p.yaml}\n',
    beside: { 'p.yaml': 'tools:\n  pay:\n    arguments:\n      amount: {type: number, max: 10}\n' },
    verdicts: ['args_valid exact'],
    good: { query: 'Hi', answer: 'x', tool_calls: [call('pay', { amount: 10 })] },
    bad: { query: 'Hi', answer: 'x', tool_calls: [call('pay', { amount: 11 })] },
  },
  {
    when: 'assertions and budgets fail a test',
    from: 'agentci-python',
    file: 'agentci.yaml',
    content:
      'name: s\nagent: app:run\ndefaults: {max_steps: 3}\ntests:\n- name: t\n  input: Book\n  assertions:\n  - {type: tool_called, tool: search}\n  - {type: output_not_contains, value: Sorry}\n',
    verdicts: ['tool_called exact', 'output_not_contains exact', 'max_steps exact'],
    good: { query: 'Book', answer: 'sorry', tool_calls: [call('search')], llm_calls: [{}, {}, {}] },
    bad: {
      query: 'Book',
      answer: 'sorry',
      tool_calls: [call('search')],
      llm_calls: [{}, {}, {}, {}],
    },
  },
  {
    when: 'cases of a dataset',
    from: 'agentunit',
    file: 'cases.json',
    content: { items: [{ id: 'c', query: 'q', expected_output: 'a', tools: ['t'] }] },
    verdicts: ['expected_output close', 'tools close'],
  },
];

test.each(ROWS)(
  '$from: $when',
  async ({ from, file, content, beside = {}, map = {}, lossy = false, verdicts, good, bad }) => {
    const converted = await convertFiles({ [file]: content, ...beside }, { map, lossy });
    expect(converted.report.from).toBe(from);
    expect(converted.verdicts).toEqual(verdicts);
    const status = async (trace: object) => Object.values(await converted.judge([trace]))[0];
    if (good === undefined || bad === undefined)
      expect(new Set(Object.values(await converted.judge([])))).toEqual(new Set(['skip']));
    else {
      expect(await status(good)).toBe('pass');
      expect(await status(bad)).toBe('fail');
    }
  },
);

describe('conversations', () => {
  test('turns of an ADK case are a script, each with its checks', async () => {
    const turn = (text: string, tool: string) => ({
      user_content: { parts: [{ text }] },
      final_response: { parts: [{ text: 'ok' }] },
      intermediate_data: { tool_uses: [{ name: tool, args: {} }] },
    });
    const { suite, judge } = await convertFiles({
      'a.evalset.json': {
        eval_cases: [{ eval_id: 'two', conversation: [turn('one', 'a'), turn('two', 'b')] }],
      },
    });
    expect(suite.queries[0]).toMatchObject({
      query: 'one',
      conversation: { script: [{ say: 'two' }] },
    });
    const said = (first: string, second: string) => ({
      id: 'two',
      turns: [
        { user: 'one', answer: 'x', tool_calls: [call(first)] },
        { user: 'two', answer: 'y', tool_calls: [call(second)] },
      ],
    });
    expect(await judge([said('a', 'b')])).toEqual({ two: 'pass' });
    expect(await judge([said('b', 'a')])).toEqual({ two: 'fail' });
  });

  test('a mean below 1 over several turns leaves open which may differ, so it is none', async () => {
    const turn = { user_content: { parts: [{ text: 'x' }] }, intermediate_data: { tool_uses: [] } };
    const { verdicts } = await convertFiles({
      'a.evalset.json': { eval_cases: [{ eval_id: 'm', conversation: [turn, turn] }] },
      'test_config.json': { criteria: { tool_trajectory_avg_score: 0.5 } },
    });
    expect(verdicts).toEqual(['tool_trajectory_avg_score none', 'tool_trajectory_avg_score none']);
  });

  test('a conversational golden without turns is played by a model', async () => {
    const { suite } = await convertFiles(
      {
        'g.json': [
          { scenario: 'Returns a lamp', expected_outcome: 'refunded', user_description: 'polite' },
        ],
      },
      { lossy: true },
    );
    expect(suite.queries[0]!.conversation).toMatchObject({
      user: { goal: 'Returns a lamp', persona: 'polite' },
    });
  });

  test('scenarios of the Python AgentCI keep their script and their end, and its warnings stay warnings', async () => {
    const { suite, judge } = await convertFiles({
      'agentci_spec.yaml':
        'agent: a\nrunner: app:run\nqueries:\n- {query: Hi, path: {max_tool_calls: 0}}\nscenarios:\n- {name: s, turns: [a, b], stop_when: {tool_called: done}, outcome: {correctness: {expected_in_answer: [ok]}}}\n',
    });
    expect(suite.queries[1]).toMatchObject({
      query: 'a',
      conversation: { script: [{ say: 'b' }], endTools: ['done'] },
    });
    expect((await judge([{ query: 'Hi', answer: 'x', tool_calls: [call('t')] }])).Hi).toBe('warn');
  });
});

test('a log in a zip file is read, and one that is not a zip is refused', async () => {
  const dir = tempDir();
  const entry = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const log = zipSync({
    'header.json': entry({ eval: { task: 't', scorers: [{ name: 'includes' }] } }),
    'samples/1_epoch_1.json': entry({
      id: 'a',
      input: 'q',
      target: 'x',
      output: { completion: 'xy' },
    }),
  });
  writeFileSync(join(dir, 'a.eval'), log);
  writeFileSync(join(dir, 'b.eval'), 'PK not');
  const options = { cwd: dir, outDir: dir, map: {} };
  expect(readSuites(['a.eval'], options).suite.cases).toMatchObject([
    { name: 'a', query: 'q', recording: { answer: 'xy' } },
  ]);
  expect(() => readSuites(['b.eval'], options)).toThrow('is not a zip file that can be read');
});

test('an assertion whose cases are all skipped was not carried', async () => {
  const { report } = await convertFiles({
    'log.json': {
      eval: { task: 'capitals', scorers: [{ name: 'includes' }] },
      samples: [
        { id: 1, target: 'Rome', output: { completion: 'x' } },
        { id: 2, input: 'q', target: 'Rome' },
      ],
    },
  });
  expect(report.counts).toMatchObject({ exact: 1, none: 1, skipped: 1 });
  expect(report.assertions[0]!.why).toBe('its case is skipped: the sample has no input');
});

test('every sample of a log is a case: epochs, and different samples with one id', async () => {
  const sample = (id: number, epoch: number, input: string, completion: string) => ({
    id,
    epoch,
    input,
    target: 'Rome',
    output: { completion },
  });
  const { files, suite, report } = await convertFiles({
    'log.json': {
      eval: { task: 'capitals', scorers: [{ name: 'includes' }] },
      samples: [
        sample(1, 1, 'Capital?', 'Rome'),
        sample(1, 2, 'Capital?', 'Milan'),
        sample(1, 1, 'City?', 'Rome'),
        sample(2, 1, 'Other?', 'Rome'),
      ],
    },
  });
  expect(suite.queries.map(({ id, query }) => [id, query])).toEqual([
    ['1', 'Capital?'],
    ['1-2', 'Capital?'],
    ['1-3', 'City?'],
    ['2', 'Other?'],
  ]);
  const recorded = files.get('recordings.jsonl')!.trim().split('\n');
  expect(recorded.map((line) => JSON.parse(line).answer)).toEqual([
    'Rome',
    'Milan',
    'Rome',
    'Rome',
  ]);
  expect(report.settings).toMatchObject([{ type: 'epochs', verdict: 'close' }]);
});

test('all suites of a folder are one spec, and files that are not suites are passed over', async () => {
  const { report } = await convertFiles(
    {
      'a/goldens.json': [{ input: 'q', expected_output: 'a' }],
      'b/x.yaml': 'just: data',
      'c/broken.json': '{',
      'd/samples.jsonl': lines({ input: 'q', target: 'a' }),
    },
    { paths: ['.'] },
  );
  expect(report).toMatchObject({ from: 'deepeval, inspect', cases: 2 });
});
