import { isObject } from '@agentci/lib/data';
import { negate } from '../../combine.ts';
import type { SourceFile } from '../../folder.ts';
import { contains, containsFolded, equals, foldsRegularly } from '../../literal.ts';
import {
  type Carried,
  type ConvertedCase,
  carry,
  correctness,
  type Finding,
  type Part,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import {
  at,
  type Fields,
  fieldsOf,
  listOf,
  messagesText,
  questionOf,
  shownText,
  textOf,
} from '../../values.ts';

/**
 * An eval of OpenAI's API: criteria over `sample` and `item`, and a run or a file with the items.
 */
export const source: SuiteSource = {
  name: 'openai-evals-api',
  summary: "JSON of an eval of OpenAI's API, with its run or --map items=FILE.jsonl",
  recognizes: (file) =>
    file.extension === '.json' &&
    isObject(file.value) &&
    Array.isArray(evalOf(file.value).testing_criteria),
  read: (file, { map }) => {
    const root = file.value as Fields;
    const spec = evalOf(root);
    const place = placeOf(spec, { file: file.name, line: 1 });
    const criteria = listOf(spec.testing_criteria);
    const items = itemsOf(root, file, map.items);
    const settings: Finding[] =
      items.length === 0
        ? [
            {
              ...place,
              type: 'items',
              verdict: 'none',
              why: 'the file has no items: --map items=FILE.jsonl names them',
            },
          ]
        : [];
    const messages = listOf(
      at(root, 'run.data_source.input_messages.template') ??
        at(root, 'data_source.input_messages.template'),
    );
    const cases = items.map((item, i): ConvertedCase => {
      const own = placeOf(item, place);
      const fields = fieldsOf(fieldsOf(item).item ?? item);
      const asked =
        messages.length === 0
          ? undefined
          : messagesText(
              messages.map((one) => ({
                ...fieldsOf(one),
                content: filled(fieldsOf(one).content, fields),
              })),
            );
      const query = asked ?? questionOf(fields, { map: map.input?.replace(/^item\./, '') });
      const output = textOf(at(item, 'sample.output_text'));
      return {
        place: own,
        name: `${textOf(spec.name) ?? 'item'}-${i + 1}`,
        query: query ?? '(no input)',
        carried: criteria.map((criterion) =>
          readCriterion(criterion, fields, placeOf(criterion, place)),
        ),
        skip:
          query === undefined
            ? 'the field with the question is unknown: --map input=FIELD'
            : undefined,
        recording: output === undefined ? undefined : { answer: output },
      };
    });
    const agent = textOf(spec.name);
    return { agent, cases, settings };
  },
};

const evalOf = (root: Fields): Fields => (isObject(root.eval) ? root.eval : root);

function itemsOf(root: Fields, file: SourceFile, named: string | undefined): readonly unknown[] {
  if (named !== undefined) return listOf(file.beside(named).value);
  for (const place of ['data_source.source.content', 'run.data_source.source.content', 'items'])
    if (Array.isArray(at(root, place))) return at(root, place) as readonly unknown[];
  return [];
}

/** Fills `{{item.x}}` into a text. Undefined if it names anything else. */
function filled(template: unknown, item: Fields): string | undefined {
  if (typeof template !== 'string') return undefined;
  let isKnown = true;
  const text = template.replace(/\{\{([^}]*)\}\}/g, (_, inside: string) => {
    const name = inside.trim();
    const value = name.startsWith('item.') ? at(item, name.slice('item.'.length)) : undefined;
    if (value === undefined) isKnown = false;
    return typeof value === 'string' ? value : (shownText(value) ?? '');
  });
  return isKnown ? text : undefined;
}

function readCriterion(written: unknown, item: Fields, place: Place): Carried {
  const criterion = fieldsOf(written);
  const type = String(criterion.type ?? 'criterion');
  const made = carryCriterion(criterion, type, item, place);
  return { ...made, finding: { ...made.finding, origin: fieldsOf(written) } };
}

const isAnswer = (input: unknown): boolean =>
  typeof input === 'string' && /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/.test(input);

function carryCriterion(criterion: Fields, type: string, item: Fields, place: Place): Carried {
  if (type === 'string_check' || type === 'text_similarity') {
    if (!isAnswer(criterion.input))
      return refuse(place, type, 'it does not look at {{sample.output_text}} alone');
    const reference = filled(criterion.reference, item);
    if (reference === undefined || reference === '')
      return refuse(place, type, 'its reference is empty, or more than fields of the item');
    return type === 'string_check'
      ? stringCheck(criterion, reference, place)
      : similarity(criterion, reference, place);
  }
  if (type === 'label_model' || type === 'score_model') {
    const rule = messagesText(
      listOf(criterion.input).map((one) => ({
        ...fieldsOf(one),
        content: String(fieldsOf(one).content ?? '')
          .replace(/\{\{\s*sample\.output_text\s*\}\}/g, 'the answer')
          .replace(
            /\{\{\s*item\.([\w.]+)\s*\}\}/g,
            (_, name: string) => shownText(at(item, name)) ?? '',
          ),
      })),
    );
    return rule === undefined
      ? refuse(place, type, 'it has no prompt')
      : carry(
          place,
          type,
          'close',
          [correctness({ llm_judge: [{ rule }] })],
          'your judge decides, on a scale of five',
        );
  }
  return refuse(
    place,
    type,
    type === 'python'
      ? 'code is neither run nor translated: write it as `code`'
      : 'it is not a type that is known',
  );
}

function stringCheck({ operation }: Fields, reference: string, place: Place): Carried {
  const same: readonly Part[] = [correctness({ regex_match: equals(reference) })];
  switch (operation) {
    case 'eq':
      return carry(place, 'string_check', 'exact', same);
    case 'ne':
      return carry(place, 'string_check', 'exact', [negate(same)!]);
    case 'like':
      return carry(place, 'string_check', 'exact', [
        correctness({ regex_match: contains(reference) }),
      ]);
    case 'ilike': {
      const isRegular = foldsRegularly(reference);
      return carry(
        place,
        'string_check',
        isRegular ? 'exact' : 'close',
        [correctness({ regex_match: containsFolded(reference) })],
        isRegular ? undefined : 'letters of which case folding and lower-casing differ',
      );
    }
    default:
      return refuse(place, 'string_check', 'its operation is not known');
  }
}

const METHODS: Readonly<Record<string, string>> = {
  bleu: 'bleu',
  rouge_1: 'rouge_1',
  rouge_l: 'rouge_l',
  cosine: 'embedding',
  fuzzy_match: 'levenshtein',
};

function similarity(
  { evaluation_metric, pass_threshold }: Fields,
  reference: string,
  place: Place,
): Carried {
  const method = METHODS[String(evaluation_metric)];
  if (method === undefined || typeof pass_threshold !== 'number')
    return refuse(
      place,
      'text_similarity',
      `"${String(evaluation_metric)}" is not among the methods of \`similarity\``,
    );
  return carry(
    place,
    'text_similarity',
    'close',
    [correctness({ similarity: { to: reference, method, min: pass_threshold } })],
    'AgentCI computes this score differently',
  );
}
