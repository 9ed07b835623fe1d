import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { caseText, exitCode } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { readSpecFile } from '@agentci/spec';
import {
  checkText,
  failureOf,
  loadFailure,
  SpecFailure,
  skipReason,
  warningsOf,
} from './failure-text.ts';
import { SpecRun, type SpecTestOptions } from './spec-run.ts';

/** The test context of a framework. */
export interface TestContext {
  readonly signal: AbortSignal;
  /** Skips the test. May or may not return. */
  readonly skip: (reason: string) => void;
  /** Prints a line next to a passing test. */
  readonly tell: (line: string) => void;
}

/** The functions we need from a framework: groups and tests. */
export interface Framework {
  readonly describe: (
    name: string,
    options: { readonly concurrent: boolean },
    body: () => void,
  ) => void;
  readonly test: (name: string, body: (context: TestContext) => Promise<void>) => void;
}

const MAX_NAME = 100;

/**
 * Registers one test per query, and one for the whole run. An invalid spec becomes a failing test.
 */
export function describeWith(
  framework: Framework,
  spec: string | URL,
  options: SpecTestOptions,
): void {
  const file = specFile(spec);
  let run: SpecRun;
  let name: string;
  try {
    const { suite } = readSpecFile(file);
    name = `${suite.agent} (${file})`;
    run = new SpecRun(suite, options);
    if (run.queries.length === 0)
      throw new SpecFailure(`none of the ${suite.queries.length} queries of ${file} was selected`);
  } catch (error) {
    framework.describe(file, { concurrent: false }, () => {
      framework.test('can be used', async () => {
        throw loadFailure(error);
      });
    });
    return;
  }
  framework.describe(name, { concurrent: options.concurrent ?? false }, () => {
    for (const query of run.queries)
      framework.test(testName(query), (context) => testQuery(run, query, options, context));
    framework.test('as a whole', (context) => testWhole(run, options, context));
  });
}

/** The spec's path relative to the working directory, so that terminals link to it. */
export function specFile(spec: string | URL): string {
  const path = spec instanceof URL ? fileURLToPath(spec) : spec;
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || near === '' ? path : near;
}

function testName({ id, cell, query }: Query): string {
  const text = query.replace(/\s+/g, ' ').trim();
  return `${caseText({ id, cell })}: ${text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text}`;
}

async function testQuery(
  run: SpecRun,
  query: Query,
  options: SpecTestOptions,
  context: TestContext,
): Promise<void> {
  const result = await run.resultOf(query, context.signal);
  const failure = failureOf(result, strictness(options));
  if (failure) throw failure;
  if (result.status === 'skip') {
    context.skip(skipReason(result));
    return;
  }
  for (const line of warningsOf(result)) context.tell(line);
}

/** Reports only failures of the whole run. The tests of single queries report theirs. */
async function testWhole(
  run: SpecRun,
  options: SpecTestOptions,
  context: TestContext,
): Promise<void> {
  const { results, checks } = await run.whole();
  if (results.length === 0 && checks.length === 0) {
    context.skip('no query was run');
    return;
  }
  const blocking = checks.filter(
    ({ status }) =>
      status === 'fail' || status === 'error' || (options.strict && status === 'warn'),
  );
  if (blocking.length > 0)
    throw new SpecFailure(
      blocking.map((check) => checkText(check)).join('\n'),
      blocking[0]?.location,
    );
  const isQuiet = results.every(
    ({ status }) => status === 'pass' || status === 'warn' || status === 'skip',
  );
  if (isQuiet && exitCode({ results: [...results], checks: [...checks] }) === 2)
    throw new SpecFailure('nothing was checked: no check of any query came to a verdict');
  for (const check of checks)
    if (check.status === 'warn') context.tell(`warn: ${checkText(check)}`);
}

const strictness = ({ strict = false }: SpecTestOptions): { strict: boolean } => ({ strict });
