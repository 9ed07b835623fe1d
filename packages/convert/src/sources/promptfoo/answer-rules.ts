import { defined, isObject, valueIn } from '@agentci/lib/data';
import {
  contains,
  containsFolded,
  equals,
  escapePattern,
  foldsRegularly,
  startsWith,
} from '../../literal.ts';
import { type Block, type BlockValue, correctness, cost } from '../../model.ts';
import { readYaml } from '../../places.ts';
import { javascriptFit } from '../../regex-fit.ts';
import { draft7 } from '../../schema-fit.ts';
import { splitList } from './assertion-text.ts';
import type { Rule, RuleOutcome } from './rule.ts';

/**
 * Checks of the answer's text. They are patterns, because our term checks compare the visible text.
 */
const IRREGULAR = 'letters of which case folding and lower-casing differ';

function term(value: unknown, isFolded: boolean): RuleOutcome {
  if ((typeof value !== 'string' || value === '') && typeof value !== 'number')
    return { none: 'it needs a text, and promptfoo refuses it without one' };
  const text = String(value);
  if (!isFolded) return { parts: [correctness({ regex_match: contains(text) })] };
  return {
    parts: [correctness({ regex_match: containsFolded(text) })],
    close: foldsRegularly(text) ? undefined : `it has ${IRREGULAR}`,
  };
}

function termsOf(value: unknown): readonly string[] | undefined {
  const list = typeof value === 'string' ? splitList(value) : value;
  return Array.isArray(list) && list.length > 0 ? list.map(String) : undefined;
}

const NO_LIST = { none: 'it needs a list of texts, and promptfoo refuses it without one' };
const ALWAYS = { none: 'an empty text is in every answer: it cannot fail' };

function anyTerm(value: unknown, isFolded: boolean, isInverse: boolean): RuleOutcome {
  const terms = termsOf(value);
  if (terms === undefined) return NO_LIST;
  if (terms.includes(''))
    return isInverse ? { none: 'an empty text is in every answer: it always fails' } : ALWAYS;
  const pattern =
    terms.length === 1
      ? (isFolded ? containsFolded : contains)(terms[0]!)
      : `${isFolded ? '(?i)' : ''}${terms.map(escapePattern).join('|')}`;
  return {
    parts: [correctness({ regex_match: pattern })],
    close: isFolded && !terms.every(foldsRegularly) ? `it has ${IRREGULAR}` : undefined,
  };
}

function allTerms(value: unknown, isFolded: boolean): RuleOutcome {
  const terms = termsOf(value)?.filter((text) => text !== '');
  if (terms === undefined) return NO_LIST;
  if (terms.length === 0) return ALWAYS;
  return {
    parts: terms.map((text) =>
      correctness({ regex_match: (isFolded ? containsFolded : contains)(text) }),
    ),
    close: isFolded && !terms.every(foldsRegularly) ? `it has ${IRREGULAR}` : undefined,
  };
}

/** A schema as a map, or as YAML in a text. */
function schemaOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return readYaml(value, 'schema');
  } catch {
    return undefined;
  }
}

function json(value: unknown, isInside: boolean): RuleOutcome {
  const whole: Block = isInside ? { contains_json: true } : { is_json: true };
  const lenient = isInside
    ? 'promptfoo repairs and accepts text that is nearly JSON, and looks for objects alone'
    : undefined;
  if (value === undefined || value === null || value === '')
    return { parts: [correctness(whole)], close: lenient };
  const fit = draft7(schemaOf(value));
  if (fit.kind === 'none') return { none: fit.why };
  if (fit.kind === 'any') return { parts: [correctness(whole)], close: lenient };
  const block: Block = isInside
    ? { contains_json: { schema: fit.schema } }
    : { json_schema: fit.schema };
  return { parts: [correctness(block)], close: lenient ?? fit.why };
}

function equal(value: unknown): RuleOutcome {
  if (value === undefined) return { none: 'it has no value' };
  if (typeof value === 'object')
    return { parts: [correctness({ json_schema: { const: value as BlockValue } })] };
  return { parts: [correctness({ regex_match: equals(String(value)) })] };
}

function words(value: unknown): RuleOutcome {
  if (isObject(value)) {
    const { min, max } = value;
    if (typeof min !== 'number' && typeof max !== 'number')
      return { none: 'it has neither min nor max' };
    const bounds = defined({
      min: typeof min === 'number' ? min : undefined,
      max: typeof max === 'number' ? max : undefined,
    });
    return { parts: [correctness({ length: { ...bounds, unit: 'words' } })] };
  }
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof count !== 'number' || !Number.isInteger(count))
    return { none: 'it needs a whole number of words' };
  return { parts: [correctness({ length: { min: count, max: count, unit: 'words' } })] };
}

const bound = (key: 'max_latency_ms' | 'max_cost_usd', threshold: unknown): RuleOutcome =>
  typeof threshold === 'number'
    ? { parts: [cost({ [key]: threshold })] }
    : { none: 'it needs a threshold' };

export const ANSWER_RULES: Readonly<Record<string, Rule>> = {
  contains: { read: ({ value }) => term(value, false) },
  icontains: { read: ({ value }) => term(value, true) },
  'contains-any': { read: ({ value, isInverse }) => anyTerm(value, false, isInverse) },
  'icontains-any': { read: ({ value, isInverse }) => anyTerm(value, true, isInverse) },
  'contains-all': { read: ({ value }) => allTerms(value, false) },
  'icontains-all': { read: ({ value }) => allTerms(value, true) },
  'starts-with': {
    read: ({ value }) =>
      typeof value === 'string' && value !== ''
        ? { parts: [correctness({ regex_match: startsWith(value) })] }
        : { none: 'it needs a text, and promptfoo refuses it without one' },
  },
  equals: { read: ({ value }) => equal(value) },
  regex: {
    read: ({ value }) => {
      if (typeof value !== 'string' || value === '')
        return { none: 'it needs a pattern, and promptfoo refuses it without one' };
      const fit = javascriptFit(value);
      if (fit.verdict === 'none') return { none: fit.why };
      return {
        parts: [correctness({ regex_match: fit.pattern })],
        close: fit.verdict === 'close' ? fit.why : undefined,
      };
    },
  },
  'is-json': { read: ({ value }) => json(value, false) },
  'contains-json': { read: ({ value }) => json(value, true) },
  'word-count': { read: ({ value }) => words(value) },
  latency: { read: ({ assertion }) => bound('max_latency_ms', assertion.threshold) },
  cost: { read: ({ assertion }) => bound('max_cost_usd', assertion.threshold) },
  'rouge-n': {
    isGraded: true,
    read: ({ value, assertion }) => similar(value, 'rouge_1', assertion.threshold ?? 0.75),
  },
  bleu: {
    isGraded: true,
    read: ({ value, assertion }) => similar(value, 'bleu', assertion.threshold ?? 0.5),
  },
  similar: {
    isGraded: true,
    read: ({ value, assertion }) => similar(value, 'embedding', assertion.threshold ?? 0.75),
  },
  'similar:cosine': {
    isGraded: true,
    read: ({ value, assertion }) => similar(value, 'embedding', assertion.threshold ?? 0.75),
  },
  'similar:dot': {
    isGraded: true,
    read: () => ({ none: 'only the cosine of two vectors is measured here' }),
  },
  'similar:euclidean': {
    isGraded: true,
    read: () => ({ none: 'only the cosine of two vectors is measured here' }),
  },
};

const COUNTED: Readonly<Record<string, string>> = {
  rouge_1: 'ROUGE-1 is counted on lower-cased words without stemming here',
  bleu: 'BLEU-4 is smoothed by adding one here',
  embedding: 'the embedding model of your judge is asked',
};

function similar(value: unknown, method: string, min: unknown): RuleOutcome {
  const texts = Array.isArray(value) ? value : [value];
  if (
    texts.length === 0 ||
    !texts.every((text) => typeof text === 'string' && text !== '') ||
    typeof min !== 'number'
  )
    return { none: 'it needs a text and a threshold' };
  const blocks = texts.map((text) => ({ similarity: { to: text as string, method, min } }));
  const close = valueIn(COUNTED, method);
  return { parts: [correctness(blocks.length === 1 ? blocks[0]! : { any: blocks })], close };
}
