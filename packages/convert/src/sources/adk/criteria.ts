import { isObject } from '@agentci/lib/data';
import { type Carried, carry, correctness, type Place, refuse } from '../../model.ts';
import {
  type CallMode,
  expectedCalls,
  type Fields,
  field,
  fieldsOf,
  listOf,
  textOf,
  type WantedCall,
} from '../../values.ts';

/** A turn of an eval case: the user message, the expected calls and the expected answer. */
export interface Invocation {
  readonly place: Place;
  readonly user: string | undefined;
  readonly response: string | undefined;
  readonly calls: readonly WantedCall[];
}

export interface Criterion {
  readonly name: string;
  readonly threshold: number;
  readonly settings: Fields;
  /** Its place. Absent for ADK's defaults. */
  readonly place?: Place;
}

const KNOWN = new Set([
  'tool_trajectory_avg_score',
  'response_match_score',
  'final_response_match_v2',
  'rubric_based_final_response_quality_v1',
  'rubric_based_tool_use_quality_v1',
]);

/** Reads `criteria`: a number, or a map with `threshold` and other keys. */
export function readCriteria(written: Fields, place: Place | undefined) {
  const list: Criterion[] = [];
  const unknown: { place: Place; name: string; why: string }[] = [];
  for (const [name, value] of Object.entries(written)) {
    const settings = fieldsOf(value);
    const threshold = typeof value === 'number' ? value : Number(settings.threshold ?? 1);
    if (KNOWN.has(name)) list.push({ name, threshold, settings, place });
    else if (place !== undefined)
      unknown.push({ place, name, why: 'a judge of ADK decides: write a rubric' });
  }
  return { list, unknown };
}

const MODES: Readonly<Record<string, CallMode>> = {
  EXACT: 'exact',
  IN_ORDER: 'in_order',
  ANY_ORDER: 'any_order',
  '0': 'exact',
  '1': 'in_order',
  '2': 'any_order',
};

/** The criteria for every turn, and those only for the whole. */
export function scoreCase(
  turns: readonly Invocation[],
  criteria: readonly Criterion[],
): { readonly whole: readonly Carried[]; readonly perTurn: readonly (readonly Carried[])[] } {
  const whole: Carried[] = [];
  const perTurn: Carried[][] = turns.map(() => []);
  for (const criterion of criteria)
    for (const [i, turn] of turns.entries()) {
      const made = checkTurn(criterion, turn, turns.length);
      if (made !== undefined) perTurn[i]!.push(made);
    }
  return { whole, perTurn };
}

function checkTrajectory(
  { name, threshold, settings }: Criterion,
  { place, calls }: Pick<Invocation, 'place' | 'calls'>,
  count: number,
): Carried | undefined {
  const mode = MODES[String(field(settings, 'match_type', 'matchType') ?? 'EXACT').toUpperCase()];
  if (mode === undefined) return refuse(place, name, 'its match_type is not known');
  if (threshold <= 0) return refuse(place, name, 'with a threshold of 0 nothing can fail');
  // Each turn scores 0 or 1, and the mean is compared. With a single turn, every threshold means 1.
  if (threshold < 1 && count > 1)
    return refuse(
      place,
      name,
      `a mean of ${threshold} over ${count} turns leaves open which turn may differ`,
    );
  const parts = expectedCalls(mode, 'exact', calls);
  return parts.length === 0 ? undefined : carry(place, name, 'exact', parts);
}

function checkTurn(
  { name, threshold, settings }: Criterion,
  { place, response, calls }: Invocation,
  count: number,
): Carried | undefined {
  switch (name) {
    case 'tool_trajectory_avg_score':
      return checkTrajectory({ name, threshold, settings }, { place, calls }, count);
    case 'response_match_score':
      if (response === undefined) return undefined;
      if (threshold <= 0) return refuse(place, name, 'with a threshold of 0 nothing can fail');
      return carry(
        place,
        name,
        'close',
        [correctness({ similarity: { to: response, method: 'rouge_1', min: threshold } })],
        count > 1
          ? 'ROUGE-1 without stemming, for each turn instead of the mean'
          : 'ROUGE-1 without stemming',
      );
    case 'final_response_match_v2':
      return response === undefined
        ? undefined
        : carry(
            place,
            name,
            'close',
            [
              correctness({
                llm_judge: [{ rule: `The answer agrees with this reference answer: ${response}` }],
              }),
            ],
            'another judge with another prompt decides',
          );
    default: {
      const rules = listOf(settings.rubrics).flatMap((rubric) => {
        const content = field(fieldsOf(rubric), 'rubric_content', 'rubricContent');
        const text = isObject(content) ? field(content, 'text_property', 'textProperty') : content;
        return textOf(text) ?? [];
      });
      if (rules.length === 0) return refuse(place, name, 'it has no rubrics');
      return carry(
        place,
        name,
        'close',
        [correctness({ llm_judge: rules.map((rule) => ({ rule })) })],
        'another judge with another prompt decides',
      );
    }
  }
}
