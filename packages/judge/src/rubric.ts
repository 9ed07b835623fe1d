import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { actionableSteps } from './rubrics/actionable-steps.ts';
import { bias } from './rubrics/bias.ts';
import { contextPrecision } from './rubrics/context-precision.ts';
import { contextRecall } from './rubrics/context-recall.ts';
import { contextRelevance } from './rubrics/context-relevance.ts';
import { factualGrounded } from './rubrics/factual-grounded.ts';
import { planAdherence } from './rubrics/plan-adherence.ts';
import { politeRefusal } from './rubrics/polite-refusal.ts';
import { promptAlignment } from './rubrics/prompt-alignment.ts';
import { roleAdherence } from './rubrics/role-adherence.ts';
import { stepEfficiency } from './rubrics/step-efficiency.ts';
import { taskCompletion } from './rubrics/task-completion.ts';
import type { RubricNeed, RubricTemplate } from './rubrics/template.ts';
import { toxicity } from './rubrics/toxicity.ts';

/** The rubrics for `template:`. */
export const RUBRICS = {
  polite_refusal: politeRefusal,
  factual_grounded: factualGrounded,
  actionable_steps: actionableSteps,
  task_completion: taskCompletion,
  plan_adherence: planAdherence,
  step_efficiency: stepEfficiency,
  role_adherence: roleAdherence,
  toxicity: toxicity,
  bias: bias,
  prompt_alignment: promptAlignment,
  context_precision: contextPrecision,
  context_recall: contextRecall,
  context_relevance: contextRelevance,
} as const satisfies Record<string, RubricTemplate>;

export interface RubricExample {
  readonly input?: string | undefined;
  readonly output: string;
  readonly score: number;
}

/** A rubric as written in a spec. */
export interface WrittenRubric {
  readonly rule?: string | undefined;
  readonly template?: string | undefined;
  readonly scale?: readonly string[] | undefined;
  readonly threshold?: number | undefined;
  readonly few_shot_examples?: readonly RubricExample[] | undefined;
  readonly context_file?: string | undefined;
}

/** A complete rubric, ready for the judge. */
export interface ResolvedRubric {
  readonly id: string;
  readonly version: string;
  readonly rule: string;
  readonly scale: readonly string[];
  readonly examples: readonly RubricExample[];
  readonly threshold: number;
  readonly needsContext: boolean;
  readonly needs?: readonly RubricNeed[];
}

export const DEFAULT_THRESHOLD = 0.5;

const DEFAULT_SCALE = [
  '1: does not meet the rule at all',
  '2: meets little of it',
  '3: meets it in the main, with a clear gap',
  '4: meets it, with a small flaw',
  '5: meets it fully',
];

export const isTemplate = (name: string): name is keyof typeof RUBRICS =>
  Object.hasOwn(RUBRICS, name);

/** Completes a rubric: the template first, then the written rule, which wins. */
export function resolveRubric(written: WrittenRubric): ResolvedRubric {
  const { template: name, rule, scale, few_shot_examples: examples = [] } = written;
  const template = name !== undefined && isTemplate(name) ? RUBRICS[name] : undefined;
  if (name !== undefined && template === undefined)
    throw new Error(`there is no rubric template "${name}"`);
  const filled = {
    rule: [template?.rule, rule].filter((text) => text !== undefined).join('\nAlso: '),
    scale: scale ?? template?.scale ?? DEFAULT_SCALE,
    examples,
  };
  const isOwn =
    template === undefined || rule !== undefined || scale !== undefined || examples.length > 0;
  return {
    id: template?.id ?? 'custom',
    // The threshold is not part of the question, so changing it asks no judge again.
    version: isOwn
      ? `${template ? `${template.version}+` : ''}${hashOf(filled)}`
      : template.version,
    ...filled,
    threshold: written.threshold ?? template?.threshold ?? DEFAULT_THRESHOLD,
    needsContext: template?.needsContext ?? false,
    needs: template?.needs === undefined ? undefined : template.needs,
  };
}

/** Required inputs of a template. */
export const needsOf = (template: string): readonly RubricNeed[] =>
  isTemplate(template) ? ((RUBRICS[template] as RubricTemplate).needs ?? []) : [];

const hashOf = (value: unknown): string => sha256Hex(canonicalJson(value)).slice(0, 12);
