import { expect, test } from 'vitest';
import * as door from '../src/index.ts';

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
