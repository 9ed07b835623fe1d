import { escapePattern } from '../../literal.ts';
import { type Carried, carry, correctness, type Place, refuse } from '../../model.ts';
import { agreesWith, type Fields } from '../../values.ts';

export interface Scorer {
  readonly name: string;
  readonly options: Fields;
}

/** Whitespace and punctuation that Inspect strips from both ends of an answer before comparing. */
const EDGE = String.raw`[\s!-/:-@\[-\x60{-~]*`;
const PUNCTUATION = /^[\s!-/:-@[-`{-~]+|[\s!-/:-@[-`{-~]+$/g;

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  begin: (text) => `^${EDGE}(?:${text})`,
  end: (text) => `(?:${text})${EDGE}$`,
  any: (text) => `(?:${text})`,
  exact: (text) => `^${EDGE}(?:${text})${EDGE}$`,
};

/** The check of an Inspect scorer. One matching target of a list is enough. */
export function scoredBy(
  { name, options }: Scorer,
  targets: readonly string[],
  place: Place,
): Carried {
  if (targets.length === 0) return refuse(place, name, 'the sample has no target');
  switch (name) {
    case 'match':
      return matched(name, options, targets, place);
    case 'includes': {
      if (targets.includes(''))
        return refuse(place, name, 'an empty target is in every answer: it cannot fail');
      const isFolded = options.ignore_case !== false;
      const pattern = `${isFolded ? '(?i)' : ''}${targets.map(escapePattern).join('|')}`;
      return folded(place, name, pattern, isFolded, targets);
    }
    case 'exact':
      return carry(
        place,
        name,
        'close',
        [correctness({ similarity: { to: targets[0]!, method: 'token_f1', min: 1 } })],
        'articles and punctuation are taken out in another way',
      );
    case 'f1':
      return refuse(place, name, 'a score without a bound');
    case 'model_graded_fact':
    case 'model_graded_qa':
      return options.template === undefined
        ? carry(
            place,
            name,
            'close',
            [correctness(agreesWith(targets.join(' / ')))],
            'another judge with another prompt decides',
          )
        : refuse(place, name, 'its prompt for the judge is its own');
    case 'choice':
      return refuse(place, name, 'the letter is marked by a solver, not read from the answer');
    case 'pattern':
    case 'answer':
      return refuse(place, name, 'it compares a part of the answer, which a pattern cuts out');
    default:
      return refuse(place, name.slice(0, 60), 'the scorer is custom code');
  }
}

function matched(name: string, options: Fields, targets: readonly string[], place: Place): Carried {
  if (options.numeric === true)
    return refuse(place, name, 'numbers are cut out of the answer first');
  const write = PATTERNS[String(options.location ?? 'end')];
  if (write === undefined) return refuse(place, name, 'its location is not known');
  const texts = targets.map((target) => target.replace(PUNCTUATION, ''));
  if (texts.includes(''))
    return refuse(place, name, 'a target without letters is in every answer: it cannot fail');
  const isFolded = options.ignore_case !== false;
  return folded(
    place,
    name,
    `${isFolded ? '(?i)' : ''}${write(texts.map(escapePattern).join('|'))}`,
    isFolded,
    texts,
  );
}

/** Letters outside ASCII with a case may be folded differently. */
const isPlainlyCased = (text: string): boolean => !/(?![\0-\x7f])[\p{CWCM}\p{CWCF}]/u.test(text);

function folded(
  place: Place,
  name: string,
  pattern: string,
  isFolded: boolean,
  texts: readonly string[],
): Carried {
  const isRegular = !isFolded || texts.every(isPlainlyCased);
  return carry(
    place,
    name,
    isRegular ? 'exact' : 'close',
    [correctness({ regex_match: pattern })],
    isRegular ? undefined : 'letters outside of ASCII may fold in another way there',
  );
}
