import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';

const line = (answer: string): string => `${JSON.stringify({ id: 'a', query: 'a', answer })}\n`;
const FILES = {
  'agentci_spec.yaml':
    'agent: "shop <!channel>"\nqueries: [{id: a, query: a, correctness: {expected_in_answer: [ok]}}]\n',
  'good.jsonl': line('ok'),
  'bad.jsonl': line('no *bold* <@U1>'),
};

interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A channel that answers with these statuses in turn. The last one repeats. */
async function channel(...statuses: number[]): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 200;
      received.push({ body, headers: request.headers });
      response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/T0PSECRET`,
    received,
  };
}

const judge = (
  cwd: string,
  traces: string,
  env: Record<string, string | undefined>,
  ...args: string[]
) => cli(['test', '--traces', traces, ...args], { cwd, env: { AGENTCI_BRANCH: 'main', ...env } });

test('a webhook gets what failed, signed, and nothing shows its address', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  const env = {
    AGENTCI_WEBHOOK_URL: url,
    AGENTCI_WEBHOOK_SECRET: 'hmac-key-123456',
    AGENTCI_WEBHOOK_TOKEN: 'bearer-123456',
  };
  const { code, stdout, stderr } = await judge(cwd, 'bad.jsonl', env, '-f', 'webhook');
  expect(code).toBe(1);
  expect(stdout).toContain('1 failed');
  expect(stderr).toContain('notified: webhook');
  expect(stdout + stderr).not.toMatch(/T0PSECRET|hmac-key|bearer-123/);
  const [{ body, headers }] = received as [Received];
  expect(JSON.parse(body)).toMatchObject({
    schema: 'agentci.notice/1',
    status: 'failed',
    failed: 1,
    branch: 'main',
    previous_status: null,
    failures: [{ id: 'a', status: 'fail' }],
  });
  expect(headers).toMatchObject({
    authorization: 'Bearer bearer-123456',
    'x-agentci-signature': `sha256=${createHmac('sha256', 'hmac-key-123456').update(body).digest('hex')}`,
  });
});

test('text of the agent mentions no one in Slack', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  await judge(cwd, 'bad.jsonl', { AGENTCI_SLACK_WEBHOOK_URL: url }, '-f', 'slack');
  expect(received[0]!.body).toContain('AgentCI shop &lt;!channel&gt;: failed');
  expect(received[0]!.body).not.toMatch(/<[!@]/);
});

test('a list in a template for Slack is escaped like any other text', async () => {
  const cwd = tempDir({ ...FILES, 'message.json': { text: '{{status}}', list: '{{failures}}' } });
  writeFileSync(
    join(cwd, 'agentci_spec.yaml'),
    FILES['agentci_spec.yaml'].replace('[ok]', '["<!here> \\u202E"]'),
  );
  const template = ['--notify-template', 'message.json'];
  await judge(
    cwd,
    'bad.jsonl',
    {},
    '-f',
    'slack=slack.json',
    '-f',
    'webhook=webhook.json',
    ...template,
  );
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  expect(read('webhook.json')).toContain('<!here>');
  expect(read('slack.json')).toContain('&lt;!here&gt;');
  expect(read('slack.json')).not.toMatch(/<!|\u202e/);
});

test.each([
  { CI_JOB_URL: 'https://ci:hunter22@gitlab.example/j/1' },
  {
    GITHUB_SERVER_URL: 'https://hunter22@github.example',
    GITHUB_REPOSITORY: 'o/r',
    GITHUB_RUN_ID: '7',
  },
])('credentials in the address of the CI job are not passed on', async (env) => {
  const cwd = tempDir(FILES);
  const out = ['-f', 'slack=slack.json', '-f', 'webhook=webhook.json', '-f', 'markdown=report.md'];
  await judge(cwd, 'bad.jsonl', { GITHUB_SERVER_URL: '', ...env }, ...out);
  const told = ['slack.json', 'webhook.json', 'report.md']
    .map((name) => readFileSync(join(cwd, name), 'utf8'))
    .join('');
  expect(told).toMatch(/https:\/\/(gitlab\.example\/j\/1|github\.example\/o\/r\/actions\/runs\/7)/);
  expect(told).not.toContain('hunter22');
});

test('a rubric that was not judged says why', async () => {
  const cwd = tempDir({
    ...FILES,
    'agentci_spec.yaml':
      'agent: shop\nqueries: [{id: a, query: a, correctness: {llm_judge: [{template: actionable_steps}]}}]\n',
  });
  await judge(cwd, 'good.jsonl', {}, '--judge', 'off', '-f', 'webhook=notice.json');
  expect(JSON.parse(readFileSync(join(cwd, 'notice.json'), 'utf8'))).toMatchObject({
    failures: [{ id: 'a', status: 'error', message: 'not judged: the judge is off' }],
  });
});

test.each([
  {
    when: 'change',
    traces: ['good', 'good', 'bad', 'bad', 'good'],
    sent: ['passed', 'failed', 'passed'],
  },
  { when: 'fail', traces: ['good', 'bad', 'bad'], sent: ['failed', 'failed'] },
  { when: 'always', traces: ['good', 'good'], sent: ['passed', 'passed'] },
])('--notify-on $when', async ({ when, traces, sent }) => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  for (const name of traces)
    await judge(
      cwd,
      `${name}.jsonl`,
      { AGENTCI_WEBHOOK_URL: url },
      '-f',
      'webhook',
      '--notify-on',
      when,
    );
  expect(received.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual(sent);
});

test.each([
  { after: 'the next run, as bad', next: 'bad', sent: ['passed', 'failed'] },
  { after: 'no run that takes it back', next: 'good', sent: ['passed'] },
])('a change whose message was lost is reported with $after', async ({ next, sent }) => {
  const cwd = tempDir(FILES);
  // The message of the second run is tried three times.
  const { url, received } = await channel(200, 500, 500, 500, 200);
  for (const name of ['good', 'bad', next, next])
    await judge(
      cwd,
      `${name}.jsonl`,
      { AGENTCI_WEBHOOK_URL: url },
      '-f',
      'webhook',
      '--notify-on',
      'change',
    );
  const arrived = received.filter((_, i) => i < 1 || i > 3);
  expect(arrived.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual(sent);
  if (sent.length > 1)
    expect(JSON.parse(arrived.at(-1)!.body)).toMatchObject({
      previous_status: 'passed',
      changed: true,
    });
});

test('a change is relative to the last message of the channel, despite other runs in between', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  const notify = ['-f', 'webhook', '--notify-on', 'change'];
  await judge(cwd, 'good.jsonl', { AGENTCI_WEBHOOK_URL: url }, ...notify);
  await judge(cwd, 'bad.jsonl', {});
  for (const _ of [1, 2]) await judge(cwd, 'bad.jsonl', { AGENTCI_WEBHOOK_URL: url }, ...notify);
  expect(received).toHaveLength(2);
  await judge(cwd, 'good.jsonl', {});
  await judge(cwd, 'bad.jsonl', { AGENTCI_WEBHOOK_URL: url }, ...notify);
  const told = received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(told.map(({ status, previous_status: from }) => [from, status])).toEqual([
    [null, 'passed'],
    ['passed', 'failed'],
  ]);
});

test('the same shards merged twice, or reported again, are sent once', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  const env = { AGENTCI_BRANCH: 'main', AGENTCI_WEBHOOK_URL: url };
  const notify = ['-f', 'webhook', '--notify-on', 'change'];
  await judge(cwd, 'bad.jsonl', {}, '--shard', '1/1');
  for (const _ of [1, 2]) await cli(['merge', '.agentci/runs', ...notify], { cwd, env });
  await cli(['report', ...notify], { cwd, env });
  expect(received).toHaveLength(1);
});

test('a change is one of the same branch', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  const env = { AGENTCI_WEBHOOK_URL: url };
  const args = ['-f', 'webhook', '--notify-on', 'change'];
  await judge(cwd, 'good.jsonl', env, ...args);
  await judge(cwd, 'bad.jsonl', { ...env, AGENTCI_BRANCH: 'topic' }, ...args);
  await judge(cwd, 'good.jsonl', env, ...args);
  expect(received).toHaveLength(2);
});

describe('a run of a part of the suite is not the verdict on the suite', () => {
  const answers = (a: string, b: string): string =>
    [
      { id: 'a', query: 'a', answer: a },
      { id: 'b', query: 'b', answer: b },
    ]
      .map((each) => `${JSON.stringify(each)}\n`)
      .join('');
  const TWO = {
    'agentci_spec.yaml': `agent: shop
queries:
  - {id: a, query: a, tags: [first], correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
`,
    'good.jsonl': answers('ok', 'ok'),
    'bad.jsonl': answers('no', 'ok'),
    'worse.jsonl': answers('no', 'no'),
  };
  const B = ['--ids', 'b'];

  test.each([
    {
      what: 'a part that passes does not announce that all is well',
      steps: [['good'], ['bad'], ['bad', ...B], ['bad', '--filter', 'b'], ['bad'], ['good']],
      sent: ['passed 2 of 2', 'failed 1 of 2', 'passed 2 of 2'],
    },
    {
      what: 'a partial failure after a good run is sent, and so is the next good complete run',
      steps: [['good'], ['bad', '-t', 'first'], ['bad', '-t', 'first'], ['good']],
      sent: ['passed 2 of 2', 'failed 0 of 1 (part of the suite: 1 of 2 queries)', 'passed 2 of 2'],
    },
    {
      what: 'a complete run as bad as a sent partial one is not a change',
      steps: [['good'], ['bad', '--ids', 'a'], ['bad']],
      sent: ['passed 2 of 2', 'failed 0 of 1 (part of the suite: 1 of 2 queries)'],
    },
    {
      what: 'what failed is good now, and so was the rest',
      steps: [['bad'], ['good', '--failed'], ['good'], ['bad']],
      sent: [
        'failed 1 of 2',
        'passed 1 of 1 (part of the suite: 1 of 2 queries; the last verdict on every other query was good)',
        'failed 1 of 2',
      ],
    },
    {
      what: 'one of two that failed is good now',
      steps: [['worse'], ['good', ...B], ['bad', '--failed']],
      sent: ['failed 0 of 2'],
    },
    {
      what: 'a part that is the first run of all proves nothing good',
      steps: [['good', ...B], ['good']],
      sent: ['passed 2 of 2'],
    },
  ])('$what', async ({ steps, sent }) => {
    const cwd = tempDir(TWO);
    const { url, received } = await channel(200);
    for (const [traces, ...args] of steps)
      await judge(
        cwd,
        `${traces}.jsonl`,
        { AGENTCI_SLACK_WEBHOOK_URL: url },
        ...['-f', 'slack', '--notify-on', 'change', ...args],
      );
    const told = received.map(({ body }) => {
      const { text } = JSON.parse(body) as { text: string };
      const [, status, counts] = /shop: ([a-z ]+)\*.*\n(\d+ of \d+)/.exec(text)!;
      return `${status} ${counts}${/ \(part.*\)$/.exec(text)?.[0] ?? ''}`;
    });
    expect(told).toEqual(sent);
  });

  test('a message about a change names the earlier verdict', async () => {
    const cwd = tempDir(TWO);
    const { url, received } = await channel(200);
    for (const [traces, ...args] of [['good'], ['bad', '-t', 'first'], ['good']])
      await judge(
        cwd,
        `${traces}.jsonl`,
        { AGENTCI_WEBHOOK_URL: url },
        ...['-f', 'webhook', '--notify-on', 'change', ...args],
      );
    const told = received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(
      told.map(({ status, previous_status, changed }) => [previous_status, status, changed]),
    ).toEqual([
      [null, 'passed', null],
      ['passed', 'failed', true],
      ['failed', 'passed', true],
    ]);
  });

  test('a check over the whole run that failed is not made good by a part', async () => {
    const line = (id: string, privacy_epsilon: number): string =>
      `${JSON.stringify({ id, query: id, answer: 'ok', metadata: { privacy_epsilon } })}\n`;
    const cwd = tempDir({
      'agentci_spec.yaml': `${TWO['agentci_spec.yaml']}defaults: {metrics: {privacy_budget: {min: 0.5, total_budget: 4}}}\n`,
      'traces.jsonl': line('a', 1) + line('b', 3),
    });
    const { url, received } = await channel(200);
    for (const args of [[], ['--ids', 'a']])
      await judge(
        cwd,
        'traces.jsonl',
        { AGENTCI_WEBHOOK_URL: url },
        '-f',
        'webhook',
        '--notify-on',
        'change',
        ...args,
      );
    expect(received.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual([
      'failed',
    ]);
  });

  test('under --strict, a partial run does not fix a warning or an unmeasured check of another query', async () => {
    const line = (id: string, ...tools: string[]): string =>
      `${JSON.stringify({ id, query: id, answer: 'ok', tool_calls: tools.map((name) => ({ name, arguments: {} })) })}\n`;
    const cwd = tempDir({
      'agentci_spec.yaml': `agent: shop
queries:
  - {id: w, query: w, correctness: {expected_in_answer: [ok]}, path: {expected_tools: [t1]}}
  - {id: k, query: k, correctness: {expected_in_answer: [ok]}, cost: {max_cost_usd: 1}}
  - {id: o, query: o, correctness: {expected_in_answer: [ok]}}
`,
      'traces.jsonl': line('w') + line('k') + line('o'),
      'used.jsonl': line('w', 't1') + line('k') + line('o'),
    });
    const { url, received } = await channel(200);
    const notify = ['--strict', '-f', 'webhook', '--notify-on', 'change'];
    const codes: (number | null)[] = [];
    for (const [traces, ...args] of [
      ['traces'],
      ['traces', '--ids', 'o'],
      ['used', '--ids', 'w'],
      ['used', '--ids', 'o'],
    ])
      codes.push(
        (await judge(cwd, `${traces}.jsonl`, { AGENTCI_WEBHOOK_URL: url }, ...notify, ...args))
          .code,
      );
    expect(codes).toEqual([1, 0, 0, 0]);
    expect(received.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual([
      'failed',
    ]);
    // With the last of them measured, all is good.
    const measured = `${JSON.stringify({ id: 'k', query: 'k', answer: 'ok', cost_usd: 0.1 })}\n`;
    writeFileSync(join(cwd, 'measured.jsonl'), measured);
    await judge(cwd, 'measured.jsonl', { AGENTCI_WEBHOOK_URL: url }, ...notify, '--ids', 'k');
    expect(received.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual([
      'failed',
      'passed',
    ]);
  });

  test.each(['always', 'fail'])(
    'a message sent %s says that it is about a part, and compares it with nothing',
    async (when) => {
      const cwd = tempDir(TWO);
      const { url, received } = await channel(200);
      await judge(cwd, 'bad.jsonl', {});
      await judge(
        cwd,
        'worse.jsonl',
        { AGENTCI_WEBHOOK_URL: url },
        '-f',
        'webhook',
        '--notify-on',
        when,
        ...B,
      );
      expect(JSON.parse(received[0]!.body)).toMatchObject({
        status: 'failed',
        part: 'part of the suite: 1 of 2 queries',
        previous_status: null,
        changed: null,
      });
    },
  );

  test('a stored run of a part is one in agentci report as well', async () => {
    const cwd = tempDir(TWO);
    const { url, received } = await channel(200);
    await judge(cwd, 'bad.jsonl', {});
    await judge(cwd, 'bad.jsonl', {}, ...B);
    const env = { AGENTCI_BRANCH: 'main', AGENTCI_WEBHOOK_URL: url };
    await cli(['report', '-f', 'webhook', '--notify-on', 'change'], { cwd, env });
    expect(received).toHaveLength(0);
    await cli(['report', '-f', 'webhook'], { cwd, env });
    expect(JSON.parse(received[0]!.body)).toMatchObject({ part: 'part of the suite: 1 query' });
  });
});

test('an old run that is judged or reported again is not a change', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  await judge(cwd, 'good.jsonl', {});
  const [green] = readdirSync(join(cwd, '.agentci', 'runs'));
  await judge(cwd, 'bad.jsonl', {});
  const env = { AGENTCI_BRANCH: 'main', AGENTCI_WEBHOOK_URL: url };
  const change = ['-f', 'webhook', '--notify-on', 'change'];
  await cli(['eval', '--run', green!, ...change], { cwd, env });
  await cli(['report', '--run', green!, ...change], { cwd, env });
  expect(received).toHaveLength(0);
});

test('an old run that is judged again is not the run before', async () => {
  const cwd = tempDir(FILES);
  const { url, received } = await channel(200);
  await judge(cwd, 'good.jsonl', {});
  const [green] = readdirSync(join(cwd, '.agentci', 'runs'));
  await judge(cwd, 'bad.jsonl', {});
  await cli(['eval', '--run', green!], { cwd, env: { AGENTCI_BRANCH: 'main' } });
  await judge(
    cwd,
    'bad.jsonl',
    { AGENTCI_WEBHOOK_URL: url },
    '-f',
    'webhook',
    '--notify-on',
    'change',
  );
  expect(received).toHaveLength(0);
});

test('changes follow the order of runs, not their clocks', async () => {
  const cwd = tempDir({
    ...FILES,
    'ahead.cjs': 'const { now } = Date; Date.now = () => now() + 86_400_000;\n',
  });
  const { url, received } = await channel(200);
  const env = { AGENTCI_WEBHOOK_URL: url };
  const ahead = { ...env, NODE_OPTIONS: `--require ${join(cwd, 'ahead.cjs')}` };
  const notify = ['-f', 'webhook', '--notify-on', 'change'];
  await judge(cwd, 'good.jsonl', env);
  await judge(cwd, 'bad.jsonl', ahead, ...notify);
  await judge(cwd, 'bad.jsonl', env, ...notify);
  await judge(cwd, 'good.jsonl', env, ...notify);
  const told = received.map(({ body }) => JSON.parse(body));
  expect(told.map(({ status, previous_status: from }) => [from, status])).toEqual([
    ['passed', 'failed'],
    ['failed', 'passed'],
  ]);
});

test('a template is filled with data and never run', async () => {
  const cwd = tempDir({
    ...FILES,
    'message.json': {
      title: '{{agent}}: {{status}}',
      failed: '{{failed}}',
      list: ['{{failures}}'],
      odd: '{{branch}} ${1+1}',
    },
  });
  const { url, received } = await channel(200);
  await judge(
    cwd,
    'bad.jsonl',
    { AGENTCI_WEBHOOK_URL: url },
    '-f',
    'webhook',
    '--notify-template',
    'message.json',
  );
  expect(JSON.parse(received[0]!.body)).toMatchObject({
    title: 'shop <!channel>: failed',
    failed: 1,
    list: [[{ id: 'a' }]],
    odd: 'main ${1+1}',
  });
});

test.each([
  { text: '{"a": "{{faild}}"}', says: 'Did you mean {{failed}}?' },
  { text: '{"a": ', says: 'is not JSON' },
])('a template $text is refused before anything is run', async ({ text, says }) => {
  const cwd = tempDir({ ...FILES, 'message.json': text });
  const { code, stderr } = await judge(
    cwd,
    'good.jsonl',
    {},
    '-f',
    'webhook',
    '--notify-template',
    'message.json',
  );
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});

describe('an address on the command line', () => {
  const SECRET = 'https://hooks.slack.com/services/T0/B0/T0PSECRET';

  test.each([
    { args: ['-f', `slack=${SECRET}`], says: 'AGENTCI_SLACK_WEBHOOK_URL' },
    { args: ['-f', `webhook=${SECRET}`], says: 'AGENTCI_WEBHOOK_URL' },
    {
      args: ['-f', 'slack=hooks.slack.com/services/T0/B0/T0PSECRET'],
      says: 'AGENTCI_SLACK_WEBHOOK_URL',
    },
    { args: ['-f', `slack:${SECRET}`], says: 'AGENTCI_WEBHOOK_URL' },
    { args: ['-f', SECRET], says: 'AGENTCI_WEBHOOK_URL' },
    { args: ['-f', `junit=${SECRET}`], says: 'AGENTCI_WEBHOOK_URL' },
    { args: ['-o', `${SECRET}/x.json`], says: 'AGENTCI_WEBHOOK_URL' },
  ])('$args is refused, and neither printed nor written', async ({ args, says }) => {
    const cwd = tempDir(FILES);
    const { code, stdout, stderr } = await judge(cwd, 'good.jsonl', {}, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain('OPTION_INVALID');
    expect(stderr).toContain(says);
    expect(stdout + stderr).not.toContain('T0PSECRET');
    expect(readdirSync(cwd).sort()).toEqual(Object.keys(FILES).sort());
  });

  test.each([
    ['test', '--notify-on', 'change'],
    ['test', '--notify-on', 'change', '-f', 'webhook=notice.json'],
    ['test', '--notify-template', 'message.json', '-f', 'junit=results.xml'],
    ['merge', '.', '--notify-on', 'fail'],
    ['report', '--notify-on', 'fail'],
  ])('agentci %s %s %s %s %s: nothing is sent, so it is refused', async (...args) => {
    const { code, stderr } = await cli(args.filter(Boolean), {
      cwd: tempDir({ ...FILES, 'message.json': {} }),
    });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('OPTIONS_CONFLICT'),
    });
    expect(stderr).toMatch(/-f slack or -f webhook/);
  });

  test('a template fills a file as it fills a message', async () => {
    const cwd = tempDir({ ...FILES, 'message.json': { title: '{{agent}}: {{status}}' } });
    await judge(
      cwd,
      'good.jsonl',
      {},
      '-f',
      'webhook=notice.json',
      '--notify-template',
      'message.json',
    );
    expect(readFileSync(join(cwd, 'notice.json'), 'utf8')).toBe(
      '{"title":"shop <!channel>: passed"}\n',
    );
  });
});

describe('a message that does not arrive is a warning and leaves the verdict', () => {
  test.each([
    { what: 'a server that recovers', statuses: [503, 200], asked: 2, says: 'notified: webhook' },
    {
      what: 'a refusal',
      statuses: [403],
      asked: 1,
      says: 'webhook was not notified: the server answered 403 [NOTIFY_FAILED]',
    },
    { what: 'a redirect', statuses: [302], asked: 1, says: 'the server answered 302' },
    {
      what: 'a server that stays down',
      statuses: [500],
      asked: 3,
      says: 'the server answered 500 (3 attempts)',
    },
  ])('$what', async ({ statuses, asked, says }) => {
    const cwd = tempDir(FILES);
    const { url, received } = await channel(...statuses);
    const { code, stderr } = await judge(
      cwd,
      'good.jsonl',
      { AGENTCI_WEBHOOK_URL: url },
      '-f',
      'webhook',
    );
    expect(code).toBe(0);
    expect(stderr).toContain(says);
    expect(received).toHaveLength(asked);
  });

  test.each([
    { url: '', says: 'AGENTCI_WEBHOOK_URL is not set' },
    { url: 'file:///etc/passwd', says: 'AGENTCI_WEBHOOK_URL is not an http address' },
    { url: 'http://127.0.0.1:59999/x', says: 'the server refused the connection (3 attempts)' },
    {
      url: 'http://127.0.0.1:6000/x',
      says: 'the URL uses a port that is reserved for another protocol [NOTIFY_FAILED]',
    },
  ])('an address "$url"', async ({ url, says }) => {
    const { code, stderr } = await judge(
      tempDir(FILES),
      'good.jsonl',
      { AGENTCI_WEBHOOK_URL: url },
      '-f',
      'webhook',
    );
    expect(code).toBe(0);
    expect(stderr).toContain(says);
  });

  test.each([
    {
      what: 'an address with a password',
      env: { AGENTCI_WEBHOOK_URL: 'http://user:hunter22@127.0.0.1:1/ok' },
      says: 'AGENTCI_WEBHOOK_URL contains a user name or password, which cannot be sent: use AGENTCI_WEBHOOK_TOKEN',
    },
    {
      what: 'a token with a line break in it',
      env: {
        AGENTCI_WEBHOOK_URL: 'http://127.0.0.1:1/ok',
        AGENTCI_WEBHOOK_TOKEN: 'hunter22\nmore',
      },
      says: 'AGENTCI_WEBHOOK_TOKEN contains a line break, or a character that is not ASCII',
    },
  ])('$what is reported before the run, without its value', async ({ env, says }) => {
    const { code, stdout, stderr } = await judge(
      tempDir(FILES),
      'good.jsonl',
      env,
      '-f',
      'webhook',
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/^agentci: warning: webhook cannot be notified: /);
    expect(stderr).toContain(says);
    expect(stderr).toContain(`webhook was not notified: ${says} [NOTIFY_FAILED]`);
    expect(stdout + stderr).not.toContain('hunter22');
  });

  test('a line break at the end of a token is not part of it', async () => {
    const { url, received } = await channel(200);
    const env = { AGENTCI_WEBHOOK_URL: url, AGENTCI_WEBHOOK_TOKEN: 'bearer-123456\n' };
    await judge(tempDir(FILES), 'good.jsonl', env, '-f', 'webhook');
    expect(received[0]?.headers.authorization).toBe('Bearer bearer-123456');
  });

  test('a closed connection is reported in words', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const { stderr } = await judge(
      tempDir(FILES),
      'good.jsonl',
      { AGENTCI_WEBHOOK_URL: url },
      '-f',
      'webhook',
    );
    expect(stderr).toContain(
      'webhook was not notified: the server closed the connection (3 attempts)',
    );
  });
});
