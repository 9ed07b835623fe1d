import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKS, isOfLayer } from '@agentci/checks';
import { LAYERS } from '@agentci/results';
import { sourceFiles } from '@agentci/testing/source-files';
import { describe, expect, test } from 'vitest';

// Every check and every code that users can see needs an entry with its meaning and a solution.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const page = (name: string) => readFileSync(join(root, 'docs', 'guide', name), 'utf8');
const why = page('why-did-it-fail.md');
const entries = new Set(
  [...`${why}\n${page('could-not-tell.md')}`.matchAll(/^\| `([^`]+)` \| \S.* \| \S.* \|$/gm)].map(
    ([, code]) => code!,
  ),
);

/**
 * Words in capitals that are not our codes: variables, words from other formats, and Node's error
 * codes.
 */
const FOREIGN = [
  /^OTEL_(?:SDK|TRACES|ATTRIBUTE|SPAN)_|^CLIENT_(?:KEY|CERTIFICATE)$|_PROXY$|^OPENAI_AGENTS_DISABLE_TRACING$|^CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC$/,
  /_API_KEY$/,
  /^(?:GITHUB|CI|BUILDKITE|CIRCLE|AGENTCI|NODE)_|^RUNNER_OS$/,
  /^(?:UND_ERR|ERR|EAI|Z_BUF|STATUS_CODE|TEXT_MESSAGE|TOOL_CALL|MESSAGES|ROLE)_/,
  /_(?:URL|BASE|HOST|PATH|ENDPOINT|TOKEN|VERTEX|VERTEXAI|BEDROCK|KEY_ID|BEDROCK_RUNTIME|REGION|LOCATION|SEARCH)$/,
  /^(?:RUN_STARTED|RUN_FINISHED|RUN_ERROR|CHILD_OF|CHAT_MODEL|AGENTCI_(?:PROCESS_MARK|SERVER_MARK|QUEUE_PASSWORD|QUEUE_USERNAME))$/,
];

const codes = new Set(
  sourceFiles()
    .filter((name) => !/^packages\/(?:testing|recorder|scripted-model)\//.test(name))
    .flatMap((name) => [
      ...readFileSync(join(root, name), 'utf8').matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g),
    ])
    .map(([, code]) => code!)
    .filter((code) => !FOREIGN.some((pattern) => pattern.test(code))),
);

test('there are codes to look for', () => {
  expect(codes.size).toBeGreaterThan(150);
});

test('every code in the sources has an entry', () => {
  expect([...codes].filter((code) => !entries.has(code)).sort()).toEqual([]);
});

test('every entry is of a code that exists', () => {
  const listed = [...entries].filter((entry) => /^[A-Z0-9]+(?:_[A-Z0-9]+)+$/.test(entry));
  expect(listed.filter((code) => !codes.has(code)).sort()).toEqual([]);
});

describe('every check is explained', () => {
  const rubrics = ['llm_judge', 'safety_check', 'hallucination_check'].map(
    (key) => `correctness.${key}`,
  );
  test.each([
    ...CHECKS.flatMap((check) =>
      LAYERS.filter((layer) => isOfLayer(check, layer)).map((layer) => `${layer}.${check.key}`),
    ),
    ...rubrics,
  ])('%s', (id) => {
    expect(why).toContain(`\`${id}\``);
  });
});
