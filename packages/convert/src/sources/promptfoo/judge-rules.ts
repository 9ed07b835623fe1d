import { defined, isObject } from '@agentci/lib/data';
import { type Block, correctness } from '../../model.ts';
import type { Rule, RuleOutcome } from './rule.ts';

const YOURS = 'another judge with another prompt decides';

const rubric = (rule: Block, close?: string): RuleOutcome => ({
  parts: [correctness({ llm_judge: [rule] })],
  ...(close === undefined ? { note: 'the same rule, but your judge decides' } : { close }),
});

/** A rule with the threshold of the source, converted to fifths. */
function graded(text: unknown, threshold: unknown, close: string | undefined): RuleOutcome {
  let rule: string;
  if (typeof text === 'string') rule = text.trim();
  else if (isObject(text) || Array.isArray(text)) rule = JSON.stringify(text);
  else rule = '';
  if (rule === '') return { none: 'it has no text' };
  if (typeof threshold !== 'number') return rubric({ rule }, close);
  if (threshold < 0 || threshold > 1) return { none: 'its threshold is not between 0 and 1' };
  return rubric({ rule, threshold }, close ?? 'a threshold counts in steps of a fifth here');
}

const template = (name: string, why: string = YOURS): Rule => ({
  isGraded: true,
  read: ({ assertion }) =>
    rubric(
      defined({
        template: name,
        threshold: typeof assertion.threshold === 'number' ? assertion.threshold : undefined,
      }),
      why,
    ),
});

const listed = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(String).join('\n') : value;

export const JUDGE_RULES: Readonly<Record<string, Rule>> = {
  'llm-rubric': {
    isGraded: true,
    read: ({ value, assertion }) => {
      if (assertion.rubricPrompt !== undefined)
        return { none: 'its prompt for the judge is its own' };
      return graded(
        value,
        assertion.threshold,
        typeof value === 'string' ? undefined : 'the rubric is a map',
      );
    },
  },
  'agent-rubric': {
    isGraded: true,
    read: ({ value, assertion }) => graded(value, assertion.threshold, YOURS),
  },
  'model-graded-closedqa': {
    isGraded: true,
    read: ({ value, assertion }) => graded(value, assertion.threshold, YOURS),
  },
  'g-eval': {
    isGraded: true,
    read: ({ value, assertion }) => graded(listed(value), assertion.threshold ?? 0.7, YOURS),
  },
  factuality: { isGraded: true, read: ({ value }) => facts(value) },
  'model-graded-factuality': { isGraded: true, read: ({ value }) => facts(value) },
  'answer-relevance': {
    isGraded: true,
    read: ({ assertion }) =>
      graded('The answer is about what was asked.', assertion.threshold ?? 0.75, YOURS),
  },
  'conversation-relevance': {
    isGraded: true,
    read: ({ assertion }) =>
      graded(
        'Every answer is about what the user said before it.',
        assertion.threshold ?? 0.75,
        YOURS,
      ),
  },
  'context-faithfulness': template('factual_grounded'),
  'context-recall': {
    isGraded: true,
    read: () => ({ none: 'the context is a variable of the test, not of the trace' }),
  },
  'context-relevance': {
    isGraded: true,
    read: () => ({ none: 'the context is a variable of the test, not of the trace' }),
  },
  'trajectory:goal-success': {
    isGraded: true,
    read: ({ value }) => {
      const goal = isObject(value) ? value.goal : value;
      return graded(
        typeof goal === 'string' ? `The agent reached this goal: ${goal}` : undefined,
        undefined,
        YOURS,
      );
    },
  },
  'is-refusal': template('polite_refusal', 'promptfoo looks for phrases, but here a judge decides'),
};

const facts = (value: unknown): RuleOutcome =>
  graded(
    typeof value === 'string' ? `The answer agrees with these facts: ${value}` : undefined,
    undefined,
    YOURS,
  );
