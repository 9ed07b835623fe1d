import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as door from '../src/index.ts';
import * as nodeTest from '../src/test-frameworks/node-test.ts';
import * as vitest from '../src/test-frameworks/vitest.ts';

// Names other programs rely on. Adding one is fine, removing one is a breaking change.
test('the package exports the promised names', () => {
  expect(Object.keys(door)).toEqual(
    expect.arrayContaining([
      'DEFAULT_METRICS',
      'EmergentBehaviorDetector',
      'InteractionAnalyzer',
      'NetworkAnalyzer',
      'PolicyCoverage',
      'PolicyLearner',
      'RUBRICS',
      'SpecError',
      'UserError',
      'auditJudge',
      'calibrate',
      'combineVerdicts',
      'compareConditions',
      'compareRuns',
      'compareSamples',
      'composite',
      'countLoops',
      'createJudge',
      'defineMetric',
      'detectFormat',
      'diffTraces',
      'diffVersions',
      'evaluateArguments',
      'evaluateBlocklist',
      'evaluateQuery',
      'evaluateRules',
      'exitCode',
      'explainCalls',
      'findRegressions',
      'handoffs',
      'importRecordings',
      'judgeThreshold',
      'listBaselines',
      'loadBaseline',
      'loadExperiment',
      'loadSpec',
      'makeSuite',
      'matchTools',
      'measureRatings',
      'multiAgentMetrics',
      'parseExperiment',
      'parsePolicy',
      'parseSpec',
      'parseVerdict',
      'readTraces',
      'redactTrace',
      'registerMetric',
      'relativeImprovement',
      'renderReport',
      'reportText',
      'resolveMetrics',
      'resolveRubric',
      'runExperiment',
      'runSuite',
      'saveBaseline',
      'saveSuite',
      'scoreDecisionQuality',
      'sequenceEdit',
      'sequenceLcs',
      'simpleTrace',
      'summarizeTraces',
      'toolCalls',
      'toolF1',
      'toolNames',
      'toolPrecision',
      'toolRecall',
      'totals',
      'weightSensitivity',
    ]),
  );
});

test('every name the library page lists is exported', () => {
  const page = readFileSync(new URL('../../../docs/guide/library.md', import.meta.url), 'utf8');
  const table = page.split('\n').filter((line) => /^\| (?!area|---)/.test(line));
  const listed = table.flatMap((line) =>
    [...line.matchAll(/`([A-Za-z]\w+)/g)].map(([, name]) => name),
  );
  expect(listed.length).toBeGreaterThan(40);
  expect(listed.filter((name) => !Object.hasOwn(door, name!))).toEqual([]);
});

test('the doors of the test frameworks have one shape', () => {
  expect(Object.keys(vitest).sort()).toEqual(['describeSpec', 'toPassSpec']);
  expect(Object.keys(nodeTest).sort()).toEqual(['describeSpec', 'expect']);
  expect(expect('x')).toHaveProperty('toPassSpec');
  expect(nodeTest.expect('x')).toHaveProperty('toPassSpec');
});
