import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import type { SourceFile } from '../../folder.ts';
import {
  contains,
  containsFolded,
  escapePattern,
  foldsRegularly,
  startsWith,
} from '../../literal.ts';
import {
  type BlockValue,
  type Carried,
  type ConvertedCase,
  type ConvertedSuite,
  carry,
  correctness,
  type Finding,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import { agreesWith, type Fields, fieldsOf, messagesText, textOf } from '../../values.ts';

/** The registry of openai/evals: a YAML file names a class and a JSONL file of samples. */
export const source: SuiteSource = {
  name: 'openai-evals',
  summary: 'YAML of the openai/evals registry (give the folder that holds its data too)',
  recognizes: (file) =>
    ['.yaml', '.yml'].includes(file.extension) &&
    isObject(file.value) &&
    evalsIn(file.value).length > 0,
  read: (file) => {
    const suites = evalsIn(file.value as Fields).map(([name, one]) => readEval(name, one, file));
    return {
      agent:
        suites.length === 1
          ? evalsIn(file.value as Fields)[0]![0]
          : file.base.replace(/\.ya?ml$/, ''),
      cases: suites.flatMap(({ cases }) => cases),
      settings: suites.flatMap(({ settings }) => settings),
    };
  },
};

/** Entries with a class. The others only select a version. */
const evalsIn = (root: Fields): readonly (readonly [string, Fields])[] =>
  Object.entries(root).flatMap(([name, entry]) => {
    const fields = fieldsOf(entry);
    return typeof fields.class === 'string' && isObject(fields.args) && /[.:]/.test(fields.class)
      ? [[name, fields] as const]
      : [];
  });

function readEval(name: string, one: Fields, file: SourceFile): ConvertedSuite {
  const place = placeOf(one, { file: file.name, line: 1 });
  const args = fieldsOf(one.args);
  const kind = kindOf(String(one.class));
  const path = textOf(args.samples_jsonl);
  const none = (why: string): ConvertedSuite => ({
    cases: [],
    settings: [{ ...place, type: kind, verdict: 'none', why }],
  });
  if (path === undefined) return none('it names no samples');
  const samples = readSamples(path, file);
  if (!Array.isArray(samples)) return none(`"${path}" is not JSONL`);
  const settings: Finding[] = [];
  if (Number(args.num_few_shot ?? 0) > 0)
    settings.push({
      ...place,
      type: 'num_few_shot',
      verdict: 'none',
      why: 'examples before the question are not carried',
    });
  const cases = samples.flatMap((sample, i) =>
    caseOf(sample, { name, i, kind, args, place: placeOf(sample, place) }),
  );
  return { cases, settings };
}

/** The name of a class from the package. A class of another module is code, whatever its name. */
const kindOf = (path: string): string =>
  /^evals\.elsuite\.(?:basic\.\w+|modelgraded\.classify):\w+$/.test(path)
    ? path.slice(path.indexOf(':') + 1)
    : path;

const NO_FILE = new Set(['CONVERT_UNREADABLE', 'CONVERT_OUTSIDE']);

/**
 * Samples are in the registry's `data`, next to its `evals`. Small suites keep them next to the
 * YAML.
 */
function readSamples(path: string, file: SourceFile): unknown {
  let last: unknown;
  for (const candidate of [path, `data/${path}`, `../data/${path}`])
    try {
      const found = file.beside(candidate);
      if (/^version https:\/\/git-lfs/.test(found.text.slice(0, 60)))
        throw new UserError('CONVERT_UNREADABLE', `${found.name} is a pointer of Git LFS`, {
          hint: 'Run "git lfs pull" first.',
        });
      return found.value;
    } catch (error) {
      if (!(error instanceof UserError) || !NO_FILE.has(error.code)) throw error;
      last = error;
      if (/Git LFS/.test(error.message)) break;
    }
  throw last;
}

function caseOf(
  sample: unknown,
  {
    name,
    i,
    kind,
    args,
    place,
  }: {
    readonly name: string;
    readonly i: number;
    readonly kind: string;
    readonly args: Fields;
    readonly place: Place;
  },
): readonly ConvertedCase[] {
  if (!isObject(sample)) return [];
  const query = Array.isArray(sample.input) ? messagesText(sample.input) : textOf(sample.input);
  const ideals = (Array.isArray(sample.ideal) ? sample.ideal : [sample.ideal]).filter(
    (one) => typeof one === 'string',
  ) as string[];
  return [
    {
      place,
      name: `${name}-${i + 1}`,
      query: query ?? '(no input)',
      carried: [checkOf(kind, args, ideals, place)],
      skip: query === undefined ? 'the sample has no input' : undefined,
    },
  ];
}

function checkOf(kind: string, args: Fields, ideals: readonly string[], place: Place): Carried {
  const [first] = ideals;
  if (first === undefined && kind !== 'JsonValidator')
    return refuse(place, kind, 'the sample has no ideal answer');
  if (ideals.includes('') && (kind === 'Match' || kind === 'Includes'))
    return refuse(place, kind, 'an empty ideal is in every answer: it cannot fail');
  const oneOf = (before: string, only: BlockValue): BlockValue =>
    ideals.length === 1 ? only : `${before}(?:${ideals.map(escapePattern).join('|')})`;
  switch (kind) {
    // `startswith`, not equality: "Paris" matches "Paris, of course".
    case 'Match':
      return carry(place, kind, 'exact', [
        correctness({ regex_match: oneOf('^', startsWith(first!)) }),
      ]);
    case 'Includes': {
      const isFolded = args.ignore_case === true;
      const pattern = isFolded
        ? oneOf('(?i)', containsFolded(first!))
        : oneOf('', contains(first!));
      const isRegular = !isFolded || ideals.every(foldsRegularly);
      return carry(
        place,
        kind,
        isRegular ? 'exact' : 'close',
        [correctness({ regex_match: pattern })],
        isRegular ? undefined : 'letters of which case folding and lower-casing differ',
      );
    }
    case 'FuzzyMatch':
      return carry(
        place,
        kind,
        'close',
        [correctness({ any_expected_in_answer: ideals.filter((one) => one.trim() !== '') })],
        'the answer inside the ideal, and articles and punctuation, are not looked at',
      );
    case 'JsonValidator':
      return carry(place, kind, 'exact', [correctness({ is_json: true })]);
    case 'JsonMatch':
      return readJsonMatch(ideals, place);
    case 'ModelBasedClassify':
      return args.modelgraded_spec === 'fact' || args.modelgraded_spec === 'closedqa'
        ? carry(
            place,
            kind,
            'close',
            [correctness(agreesWith(ideals.join(' / ')))],
            'another judge with another prompt decides',
          )
        : refuse(place, kind, 'its prompt and its choices are its own');
    default:
      return refuse(place, kind.slice(0, 60), 'the class is custom code');
  }
}

function readJsonMatch(ideals: readonly string[], place: Place): Carried {
  const kind = 'JsonMatch';
  const values: BlockValue[] = [];
  for (const ideal of ideals)
    try {
      values.push(JSON.parse(ideal) as BlockValue);
    } catch {
      return refuse(place, kind, 'an ideal is not JSON');
    }
  return carry(
    place,
    kind,
    'close',
    [correctness({ json_schema: { enum: values } })],
    'a key that is missing equals null there',
  );
}
