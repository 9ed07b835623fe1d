import { describe, expect, test } from 'vitest';
import { parsePolicy } from './parse-policy.ts';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;
const found = (text: string) =>
  parsePolicy(text, { file: 'p.yaml' }).diagnostics.map((d) => `${d.code} ${d.line}:${d.column}`);

describe('each problem of a policy has its location', () => {
  test.each([
    [
      'an unknown keyword',
      lines('tools:', '  t:', '    arguments:', '      v: {maxx: 3}'),
      ['POLICY_UNKNOWN_KEY 4:11'],
    ],
    ['an unknown key', lines('tols: {}', 'blocklist: [x]'), ['POLICY_UNKNOWN_KEY 1:1']],
    [
      'a key of another place',
      lines('require_args: {x: [y]}', 'blocklist: [x]'),
      ['POLICY_UNKNOWN_KEY 1:1'],
    ],
    [
      'a key nothing would enforce',
      lines('tool_pins: {}', 'blocklist: [x]'),
      ['POLICY_NOT_ENFORCED 1:1'],
    ],
    [
      'a class nothing would enforce',
      lines('tools: {deny_classes: [x], deny: [y]}'),
      ['POLICY_NOT_ENFORCED 1:9'],
    ],
    [
      'an unknown type',
      lines('tools: {t: {arguments: {v: {type: strng}}}}'),
      ['POLICY_VALUE 1:35'],
    ],
    [
      'an unknown format',
      lines('tools: {t: {arguments: {v: {format: emial}}}}'),
      ['POLICY_VALUE 1:37'],
    ],
    [
      'a bad pattern',
      lines('tools: {t: {arguments: {v: {pattern: "("}}}}'),
      ['POLICY_BAD_PATTERN 1:38'],
    ],
    [
      'a keyword of another type',
      lines('tools: {t: {arguments: {v: {type: string, max: 3}}}}'),
      ['POLICY_CANNOT_FAIL 1:43'],
    ],
    [
      'nothing asked of an argument',
      lines('tools: {t: {arguments: {v: {description: x}}}}'),
      ['POLICY_CANNOT_FAIL 1:25'],
    ],
    ['an empty list', lines('tools: {deny: []}'), ['POLICY_CANNOT_FAIL 1:15']],
    [
      'patterns written as regular expressions',
      lines('blocklist: ["^rm$", functions.*]', 'tools: {deny: ["rm "]}'),
      ['POLICY_BAD_PATTERN 1:13', 'POLICY_BAD_PATTERN 2:16'],
    ],
    ['a policy of names only', lines('tools: {t: {}}'), ['POLICY_CANNOT_FAIL 1:1']],
    [
      'allow everything',
      lines('version: "2.0"', 'tools: {allow: ["*"]}'),
      ['POLICY_CANNOT_FAIL 1:1'],
    ],
    [
      'a schema that does not compile',
      lines('schemas:', '  t: {type: obj}'),
      ['POLICY_SCHEMA 2:13'],
    ],
    ['a schema that allows everything', lines('schemas:', '  t: {}'), ['POLICY_CANNOT_FAIL 2:3']],
    [
      'a keyword that JSON Schema does not know',
      lines('schemas:', '  t: {properties: {v: {min: 3}}, required: [v]}'),
      ['POLICY_UNKNOWN_KEY 2:24'],
    ],
    [
      'a name defined twice',
      lines('schemas:', '  $defs: {p: {type: string}}', '  t: {$defs: {p: {}}, required: [a]}'),
      ['POLICY_VALUE 3:15'],
    ],
    [
      'an unknown rule',
      lines('sequences:', '  - {type: befor, first: a, then: b}'),
      ['POLICY_UNKNOWN_KEY 2:12'],
    ],
    [
      'a rule without its operand',
      lines('rules:', '  - {type: before, first: a}'),
      ['POLICY_VALUE 2:5'],
    ],
    [
      'a misspelt operand',
      lines('rules:', '  - {type: require, tol: a}'),
      ['POLICY_VALUE 2:5', 'POLICY_UNKNOWN_KEY 2:21'],
    ],
    [
      'a count of nothing',
      lines('rules:', '  - {type: count, tool: a, min: 0}'),
      ['POLICY_CANNOT_FAIL 2:5'],
    ],
    [
      'an allowlist of everything',
      lines('rules:', '  - {type: allowlist, tools: ["*"]}'),
      ['POLICY_CANNOT_FAIL 2:5'],
    ],
    ['a negative limit', lines('limits: {max_tool_calls_total: -1}'), ['POLICY_VALUE 1:32']],
    [
      'a bad selector pattern',
      lines('rules:', '  - {type: require, tool: {tool: a, args_match: {x: "("}}}'),
      ['POLICY_BAD_PATTERN 2:53'],
    ],
    ['no rules', lines('rules: []'), ['POLICY_CANNOT_FAIL 1:8']],
    ['a list', lines('- a'), ['POLICY_VALUE 1:1']],
    [
      'a bad word for on_violation',
      lines('tools: {t: {arguments: {v: {max: 1, on_violation: stop}}}}'),
      ['POLICY_VALUE 1:51'],
    ],
    [
      'required_if without a map',
      lines('tools: {t: {arguments: {v: {type: string, required_if: x}}}}'),
      ['POLICY_VALUE 1:56'],
    ],
  ])('%s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test('an unquoted star gets the quoting hint', () => {
    const { diagnostics, policy } = parsePolicy('blocklist:\n  - admin_*\n  - *_dangerous\n', {
      file: 'p.yaml',
    });
    expect(policy).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { code: 'YAML_SYNTAX', line: 3, hint: expect.stringContaining('"*_dangerous"') },
    ]);
  });

  test('all mistakes come at once, sorted by place', () => {
    const text = lines(
      'tols: 1',
      'tools:',
      '  t: {arguments: {v: {maxx: 1}}}',
      'rules:',
      '  - {type: nope}',
    );
    expect(found(text)).toEqual([
      'POLICY_UNKNOWN_KEY 1:1',
      'POLICY_UNKNOWN_KEY 3:23',
      'POLICY_UNKNOWN_KEY 5:12',
    ]);
  });

  test('past a thousand mistakes the rest is counted', () => {
    const text = Array.from({ length: 1200 }, (_, i) => `mistake_${i}: 1`).join('\n');
    const { diagnostics } = parsePolicy(text);
    expect(diagnostics.at(-1)).toMatchObject({
      code: 'POLICY_VALUE',
      message: expect.stringMatching(/^20\d more problems are not shown$/),
    });
  });

  test('a policy of names only is fine where unknown tools fail', () => {
    expect(parsePolicy('tools: {t: {}}', { strict: true }).policy).toBeDefined();
  });

  test('aliases stand for several tools', () => {
    const { policy, diagnostics } = parsePolicy(
      lines(
        'aliases: {Read: [get, "list_*"]}',
        'sequences:',
        '  - {type: before, first: auth, then: Read}',
      ),
    );
    expect(diagnostics).toEqual([]);
    expect(policy?.rules).toMatchObject([{ id: 'before:auth->Read', line: 3 }]);
  });
});
