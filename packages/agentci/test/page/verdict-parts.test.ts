import type { PageRun } from '@agentci/results';
import { describe, expect, test } from 'vitest';
import { checkValue } from '../../../report-ui/src/check-value.ts';
import { issueText, rerunCommand } from '../../../report-ui/src/issue-text.ts';
import { precedingRun } from '../../../report-ui/src/preceding-run.ts';
import { wantedOf } from '../../../report-ui/src/wanted.ts';
import { runOfText } from './support/hostile-run.ts';
import { sampleReport, sampleResult, sampleRun } from './support/sample-run.ts';

test.each([
  { id: 'cost.max_cost_multiplier', value: 9.513157894, shown: '9.51\u00a0×' },
  { id: 'cost.max_cost_usd', value: 0.018412345, shown: '$0.0184' },
  { id: 'cost.max_latency_ms', value: 1204.7, shown: '1.20 s' },
  { id: 'cost.max_total_tokens', value: 12_400, shown: '12,400' },
  { id: 'path.min_tool_f1', value: 2 / 3, shown: '0.67' },
  { id: 'correctness.similarity', value: 0.00012345, shown: '0.00012' },
  { id: 'path.match_mode', value: 'subset', shown: 'subset' },
  { id: 'cost.max_cost_usd', value: null, shown: 'not known' },
  { id: 'cost.max_cost_usd', value: undefined, shown: '' },
])('a value of $id is shown as $shown', ({ id, value, shown }) => {
  expect(checkValue(id, value)).toBe(shown);
});

describe('the expected value', () => {
  test('names the terms and which of them are there', () => {
    const refund = sampleReport().run.results.find(({ id }) => id === 'refund')!;
    expect(wantedOf(refund)[0]).toMatchObject({
      words: 'The answer contains all of',
      terms: [
        { text: 'ticket', isMet: true },
        { text: 'approval by a person', isMet: false },
      ],
    });
  });

  test('does not say which term is there when the check counted otherwise', () => {
    const result = sampleResult({
      id: 'a',
      query: 'q',
      answer: 'nothing',
      terms: ['x', 'y'],
      correctness: 'fail',
    });
    expect(wantedOf(result)[0]!.terms).toEqual([
      { text: 'x', isMet: undefined },
      { text: 'y', isMet: undefined },
    ]);
  });
});

describe('an issue', () => {
  test('has the line of the spec, question, answer, expectation, finding, and the command to run it again', () => {
    const { run } = sampleReport();
    const text = issueText(run, run.results.find(({ id }) => id === 'refund')!);
    for (const part of [
      '### refund: fail',
      'agentci&#95;spec.yaml&#58;10&#58;5',
      '```text\nPlease refund order 1182\n```',
      'The refund of $42.50 needs an approval.',
      '✕ approval by a person',
      'missing from the answer&#58; &#34;approval by a person&#34;',
      '```sh\nagentci test --ids refund\n```',
    ])
      expect(text).toContain(part);
  });

  test.each([
    '```\n# not a heading\n```\n@someone',
    '`````\nout',
    '<details><script>alert(1)</script>',
    '[x](javascript:alert(1)) @team ![i](u)',
    '| a | b |\n---',
    "'; rm -rf ~; '",
  ])('text cannot leave its place: %j', (evil) => {
    const { run } = runOfText(evil);
    const text = issueText(run, run.results[0]!);
    let fence = '';
    for (const line of text.split('\n')) {
      const [ticks = ''] = /^`{3,}/.exec(line) ?? [];
      if (fence === '') {
        if (ticks !== '') fence = ticks;
        else {
          expect(line).not.toMatch(/[@<`]|\]\(|\| a/);
          expect(line).not.toMatch(/^# /);
        }
      } else if (line === fence) fence = '';
      else expect(ticks.length).toBeLessThan(fence.length);
    }
    expect(fence).toBe('');
  });

  test.each([
    { id: 'plain-id', command: 'agentci test --ids plain-id' },
    { id: "it's; rm -rf ~", command: "agentci test --ids 'it'\\''s; rm -rf ~'" },
    { id: '$(reboot)', command: "agentci test --ids '$(reboot)'" },
    { id: '-x', command: "agentci test --ids '-x'" },
    { id: 'a,b', command: "agentci test --filter 'a,b'" },
    { id: 'a\nb', command: "agentci test --ids 'a b'" },
  ])('the command is one word of a shell: $command', ({ id, command }) => {
    expect(rerunCommand(sampleRun([]), sampleResult({ id, query: 'q' }))).toBe(command);
  });

  test('a run over recordings is repeated with them, and with this cell alone', () => {
    const result = { ...sampleResult({ id: 'a', query: 'q' }), cell: { model: 'm1' } };
    const command = "agentci test --traces 'my traces.jsonl' --cell model=m1 --cell 'model=m 2'";
    expect(rerunCommand(sampleRun([]), result, command)).toBe(
      "agentci test --traces 'my traces.jsonl' --ids a --cell model=m1",
    );
    expect(issueText(sampleRun([result]), result, command)).toContain(
      "--traces 'my traces.jsonl' --ids a",
    );
  });

  test('the command names the spec and the cell', () => {
    const run = sampleRun([], { spec: { file: 'my specs/a.yaml', hash: '' } });
    const result = { ...sampleResult({ id: 'a', query: 'q' }), cell: { model: 'm 1' } };
    expect(rerunCommand(run, result)).toBe(
      "agentci test -c 'my specs/a.yaml' --ids a --cell 'model=m 1'",
    );
  });
});

test('the run before is the last finished one of the same agent, spec and branch', () => {
  const run = (id: string, rest: Partial<PageRun> = {}) =>
    ({
      id,
      agent: 'a',
      spec: 's',
      started_at: '',
      finished: true,
      branch: 'main',
      ...rest,
    }) as PageRun;
  const runs = [
    run('6'),
    run('5', { finished: false }),
    run('4', { branch: 'other' }),
    run('3', { agent: 'b' }),
    run('2', { spec: 't' }),
    run('1'),
  ];
  expect(precedingRun(runs, '6')).toBe('1');
  expect(precedingRun(runs, '1')).toBeUndefined();
  // Without another run on its branch, it is compared with the base. A shard is not a run.
  expect(precedingRun([run('9', { branch: 'new' }), ...runs.slice(2)], '9')).toBe('1');
  expect(precedingRun([run('9', { branch: 'new' }), runs[2]!], '9')).toBe('4');
  expect(precedingRun([run('9'), run('8', { shard: true }), ...runs.slice(2)], '9')).toBe('1');
  expect(precedingRun(runs, undefined)).toBeUndefined();
});
