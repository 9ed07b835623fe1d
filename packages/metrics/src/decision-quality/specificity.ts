import { compileRegex } from '@agentci/lib/regex';
import type { PartScore } from './part-score.ts';
import type { DecisionQualityProfile } from './profile.ts';
import { findWord } from './words.ts';

/** How concrete an action is: 0, 0.33, 0.67 or 1. */
export function scoreSpecificity(action: string, profile: DecisionQualityProfile): PartScore {
  const text = action.toLowerCase();
  return profile.specificity === 'upstream' ? upstream(text) : byWords(text, profile);
}

function byWords(text: string, profile: DecisionQualityProfile): PartScore {
  const version = versionIn(text, profile.versionPattern);
  const target =
    findWord(text, profile.services, 'start') ?? findWord(text, profile.commands, 'whole');
  if (version !== undefined && target !== undefined)
    return { score: 1, rule: 'version_and_target', evidence: `${target}, ${version}` };
  if (version !== undefined) return { score: 0.67, rule: 'version_only', evidence: version };
  if (target !== undefined) return { score: 0.67, rule: 'service_or_command', evidence: target };
  const noun = findWord(text, profile.genericNouns, 'plural');
  if (noun !== undefined) return { score: 0.33, rule: 'generic_noun', evidence: noun };
  return { score: 0, rule: 'vague' };
}

function versionIn(text: string, pattern: string): string | undefined {
  const compiled = compileRegex(pattern);
  if (!compiled.ok)
    throw new RangeError(`the version pattern ${pattern} cannot be used: ${compiled.message}`);
  return compiled.regex.firstMatch(text)?.text;
}

/** The published scorer's list. The first match wins, and fragments match anywhere. */
const UPSTREAM: readonly {
  readonly fragments: readonly string[];
  readonly score: number;
  readonly rule: string;
}[] = [
  { fragments: ['v2.', 'version'], score: 1, rule: 'version_fragment' },
  { fragments: ['rollback', 'auth', 'database'], score: 0.67, rule: 'target_fragment' },
  { fragments: ['deployment', 'service'], score: 0.33, rule: 'generic_fragment' },
];

function upstream(text: string): PartScore {
  for (const { fragments, score, rule } of UPSTREAM) {
    const evidence = fragments.find((fragment) => text.includes(fragment));
    if (evidence !== undefined) return { score, rule, evidence };
  }
  return { score: 0, rule: 'vague' };
}
