import { expect, test } from 'vitest';
import * as door from '../src/index.ts';
import * as nodeTest from '../src/test-frameworks/node-test.ts';
import * as vitest from '../src/test-frameworks/vitest.ts';

// Names other programs rely on. Adding one is fine; taking one away breaks somebody.
test('the door exports what was promised', () => {
  expect(Object.keys(door)).toEqual(
    expect.arrayContaining([
      'DEFAULT_METRICS',
      'EmergentBehaviorDetector',
      'InteractionAnalyzer',
      'NetworkAnalyzer',
      'SpecError',
      'compareConditions',
      'composite',
      'countLoops',
      'defineMetric',
      'detectFormat',
      'evaluateQuery',
      'exitCode',
      'handoffs',
      'loadSpec',
      'matchTools',
      'multiAgentMetrics',
      'parseSpec',
      'readTraces',
      'registerMetric',
      'relativeImprovement',
      'resolveMetrics',
      'runSuite',
      'scoreDecisionQuality',
      'sequenceEdit',
      'sequenceLcs',
      'simpleTrace',
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

test('the doors of the test frameworks have one shape', () => {
  expect(Object.keys(vitest).sort()).toEqual(['describeSpec', 'toPassSpec']);
  expect(Object.keys(nodeTest).sort()).toEqual(['describeSpec', 'expect']);
  expect(expect('x')).toHaveProperty('toPassSpec');
  expect(nodeTest.expect('x')).toHaveProperty('toPassSpec');
});
