import { defined } from '@agentci/lib/data';
import { v } from '@agentci/lib/values';
import { simpleTrace } from '@agentci/trace';
import { answerOf, caseOf, metadataOf, outcomeFields, ownField } from '../input.ts';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { type ActionSource, actionsOf, type FoundActions } from './actions.ts';
import { areWeights, type DecisionQualityProfileChoice } from './profile.ts';
import { scoreDecisionQuality } from './score-decision-quality.ts';

const params = () => {
  const words = v.array(v.string().regex(/\S/));
  return metricParams({
    ground_truth: v
      .union([v.string(), v.array(v.string()).min(1)])
      .optional()
      .describe(
        'What resolves the case; a list holds alternatives. Else metadata.ground_truth, else expected_output',
      ),
    actions: v
      .string()
      .regex(/^(?:list|\/.*)$/, 'write "list" or a JSON pointer such as "/actions"')
      .default('list')
      .describe(
        'Where the actions are: the items of lists in the answer, or a JSON pointer into it',
      ),
    profile: v.enum(['spec', 'upstream']).default('spec'),
    weights: v
      .strictObject({ validity: v.number(), specificity: v.number(), correctness: v.number() })
      .refine(areWeights, { message: 'the three weights must add up to 1' })
      .optional(),
    services: words.optional(),
    commands: words.optional(),
  });
};

export const metric = defineMetric({
  name: 'decision_quality',
  group: 'quality',
  layer: 'correctness',
  needs: ['an answer', 'a ground truth'],
  summary: 'whether proposed actions are feasible, concrete and right',
  params,
  evaluate: (input) => {
    const {
      ground_truth: given,
      actions: source,
      profile: base,
      services,
      commands,
      weights,
    } = input.params;
    const groundTruth = given ?? groundTruthOf(input);
    if (groundTruth === undefined) return notMeasured('the case has no ground truth');
    const found = foundActions(input, source as ActionSource);
    if (!found.ok) return notMeasured(found.why);
    const profile: DecisionQualityProfileChoice = {
      base,
      ...defined({ services, commands }),
    };
    const { dq, ...detail } = scoreDecisionQuality({
      actions: found.actions,
      groundTruth,
      profile,
      weights,
    });
    return measured(dq, { ...detail });
  },
});

/** Given with the metric, else with the case. */
function groundTruthOf(input: MetricInput): string | readonly string[] | undefined {
  for (const value of [
    ownField(metadataOf(input), 'ground_truth'),
    caseOf(input).expected_output,
  ]) {
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string'))
      return value;
  }
  return undefined;
}

/** Uses the outcome if it is known apart from the trace, so that a list of actions stays a list. */
function foundActions(input: MetricInput, source: ActionSource): FoundActions {
  const { outcome, trace } = input;
  const output =
    Object.keys(outcomeFields(input)).length > 0 ? outcomeFields(input).output : outcome;
  if (output === undefined || output === null)
    return trace ? actionsOf(trace, source) : { ok: false, why: 'there is no answer' };
  if (
    source === 'list' &&
    Array.isArray(output) &&
    output.every((item) => typeof item === 'string')
  )
    return { ok: true, actions: output.map((item) => item.trim()).filter(Boolean) };
  return actionsOf(simpleTrace({ answer: answerOf(input) ?? '' }), source);
}
