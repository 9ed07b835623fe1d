import { engine } from '../kit/cel/engine.ts';
import { provideCel } from '../kit/cel/expression.ts';
import type { RulesResult } from '../results/policy-report.ts';
import { type EvaluateRulesInput, evaluateRules as evaluate } from './evaluate-rules.ts';
import {
  type ParsedPolicy,
  type ParsePolicyOptions,
  parsePolicy as parse,
} from './parse-policy.ts';

/** Reads a policy from YAML or JSON text. Never throws for what a user wrote. It brings the engine for expressions along. */
export function parsePolicy(text: string, options: ParsePolicyOptions = {}): ParsedPolicy {
  provideCel(engine);
  return parse(text, options);
}

/** The one evaluator of sequence rules, with the engine for expressions. */
export function evaluateRules(input: EvaluateRulesInput): RulesResult {
  provideCel(engine);
  return evaluate(input);
}
