import { CHECKS } from '@agentci/checks';
import { valueIssues } from '@agentci/lib/values';
import type { QueryResult, SurvivorAdvice } from '@agentci/results';
import { checksOf } from '@agentci/results';
import type { TraceEvaluator } from '@agentci/run';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { blockFor, idOfAdvice, placeOfWritten } from './advice-place.ts';
import { joinWritten } from './join-written.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { Advice, Site } from './operator.ts';
import { fillTemplate, templatesOf } from './row-templates.ts';
import { yamlValue } from './yaml-words.ts';

/** A recording with its verdict. */
export interface Good {
  readonly query: Query;
  readonly trace: Trace;
  readonly parent: QueryResult;
}

/** Checks that call a model or a program. They do not affect a new check next to them. */
const ASKING = ['llm_judge', 'code', 'expr', 'all', 'any', 'not'];
/** Longer lines are not worth pasting. */
const MAX_YAML = 2000;

/**
 * Finds the check that would notice a mutant. All advice is verified: the check, merged with the
 * query's existing values for that key, must pass on the good recordings and catch the mutant.
 * Advice that would repeat a secret is dropped.
 */
export class Adviser {
  readonly #evaluate: TraceEvaluator;
  readonly #secrets: KnownSecrets;
  readonly #byQuery = new Map<string, Good[]>();
  /** Rows of one query are separate queries at the same location. */
  readonly #byPlace = new Map<string, Good[]>();
  readonly #held = new Map<string, boolean>();

  constructor(evaluate: TraceEvaluator, good: readonly Good[], secrets: KnownSecrets) {
    this.#evaluate = evaluate;
    this.#secrets = secrets;
    for (const one of good) {
      push(this.#byQuery, keyOf(one.query), one);
      push(this.#byPlace, placeOf(one.query), one);
    }
  }

  async advise(
    { query, trace }: Good,
    { advice }: Site,
    mutant: Trace,
  ): Promise<SurvivorAdvice | undefined> {
    for (const one of advice) {
      const value =
        one.value === undefined
          ? undefined
          : joinWritten(one.key, blockFor(query, one)?.[one.key], one.value);
      if (
        value === undefined ||
        this.#secrets.hasSecret(one.value, trace) ||
        !isValid(one, value, query)
      )
        continue;
      const found = await this.#written(query, one, value);
      if (found === undefined || found.yaml.length > MAX_YAML) continue;
      if (isCaught(await this.#evaluate(trialOf(query, one, value), mutant), one)) return found;
    }
    return undefined;
  }

  /** The line for the spec. Covers all rows of the query if it fits them all. */
  async #written(
    query: Query,
    advice: Advice,
    value: unknown,
  ): Promise<SurvivorAdvice | undefined> {
    const { layer, key, turn } = advice;
    const keeps =
      blockFor(query, advice)?.[key] === undefined ? undefined : placeOfWritten(query, advice);
    const line = (shown: unknown) => ({
      layer,
      check: key,
      turn,
      value: shown,
      yaml: `${key}: ${yamlValue(shown)}`,
      keeps,
    });
    const { vars } = query;
    const family = this.#byPlace.get(placeOf(query))!;
    const isAlone = family.every((other) => keyOf(other.query) === keyOf(query));
    const templates = vars === undefined ? [value] : templatesOf(value, vars);
    for (const template of templates) {
      const filled = (other: Query): unknown =>
        other.vars === undefined ? template : fillTemplate(template, other.vars);
      if (await this.#holds(family, advice, template, filled)) return line(template);
    }
    const literal = templates.at(-1);
    if (
      isAlone ||
      !(await this.#holds(this.#byQuery.get(keyOf(query))!, advice, literal, () => value))
    )
      return undefined;
    return { ...line(literal), per_row: true };
  }

  async #holds(
    good: readonly Good[],
    advice: Advice,
    template: unknown,
    filled: (query: Query) => unknown,
  ): Promise<boolean> {
    const key = `${good.length} ${keyOf(good[0]!.query)} ${idOfAdvice(advice)} ${JSON.stringify(template)}`;
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    const judge = async (): Promise<boolean> => {
      for (const { query, trace } of good)
        if (!isKept(await this.#evaluate(trialOf(query, advice, filled(query)), trace), advice))
          return false;
      return true;
    };
    const isHeld = await judge();
    this.#held.set(key, isHeld);
    return isHeld;
  }
}

const keyOf = ({ id, cell }: Query): string =>
  cell === undefined ? id : `${id} ${JSON.stringify(cell)}`;
const placeOf = (query: Query): string => {
  const { file, line, column } = query.location ?? {};
  return query.vars === undefined || line === undefined
    ? keyOf(query)
    : `${file}:${line}:${column}`;
};

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** The query with only the layer of the advice. */
function trialOf(whole: Query, advice: Advice, value: unknown): Query {
  const { id, query, tags, runs, minPassRate, vars, conversation } = whole;
  const { layer, turn } = advice;
  const block: Record<string, unknown> = { ...blockFor(whole, advice), [advice.key]: value };
  for (const key of ASKING) delete block[key];
  const bare = { id, query, tags, runs, minPassRate, vars, conversation };
  return turn === undefined
    ? { ...bare, [layer]: block }
    : { ...bare, turns: [{ turn, [layer]: block, locations: {} }] };
}

const isKept = (result: QueryResult, advice: Advice): boolean =>
  result.error === undefined &&
  checksOf(result).some(({ id, status }) => id === idOfAdvice(advice) && status === 'pass');

const isCaught = (result: QueryResult, advice: Advice): boolean =>
  result.error !== undefined ||
  checksOf(result).some(
    ({ id, status }) => id === idOfAdvice(advice) && status !== 'pass' && status !== 'skip',
  );

/** Advice that `validate` would reject is dropped. */
function isValid(advice: Advice, value: unknown, query: Query): boolean {
  const { layer, key } = advice;
  const check = CHECKS.find(
    (one) => one.key === key && (one.layer === layer || one.layer === 'every'),
  );
  if (check === undefined || valueIssues(check.schema, value).length > 0) return false;
  const problems =
    check.inspect?.(value as never, { ...blockFor(query, advice), [key]: value }) ?? [];
  return problems.length === 0;
}
