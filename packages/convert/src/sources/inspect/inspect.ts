import { isObject } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import type { Block, ConvertedCase, ConvertedSuite, Finding, Place } from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SourceOptions, SuiteSource } from '../../source.ts';
import { contentText, type Fields, fieldsOf, listOf, messagesText, textOf } from '../../values.ts';
import { readEvalZip } from './eval-zip.ts';
import { type Scorer, scoredBy } from './scorers.ts';

/** Samples of Inspect, and its logs, which contain the scorer and the answers. */
export const source: SuiteSource = {
  name: 'inspect',
  summary:
    'logs of Inspect (.eval, .json), or samples in JSON, JSONL and CSV with --map scorer=NAME',
  recognizes: (file) => {
    if (file.extension === '.eval') return true;
    if (!['.json', '.jsonl', '.csv'].includes(file.extension)) return false;
    if (isLog(file.value)) return true;
    const list = listOf(file.value);
    return (
      list.length > 0 &&
      list.slice(0, 20).every((one) => isObject(one) && 'input' in one && 'target' in one)
    );
  },
  read: (file, options) => {
    if (file.extension === '.eval') return readLog(readEvalZip(file), file);
    return isLog(file.value) ? readLog(file.value as Fields, file) : readSamples(file, options);
  },
};

const isLog = (value: unknown): boolean =>
  isObject(value) && isObject(value.eval) && typeof value.eval.task === 'string';

function readLog(log: Fields, file: SourceFile): ConvertedSuite {
  const root: Place = { file: file.name, line: 1 };
  const spec = fieldsOf(log.eval);
  const written =
    listOf(spec.scorers).length > 0 ? listOf(spec.scorers) : listOf(fieldsOf(log.results).scores);
  const scorers = written.map((one): Scorer => {
    const { name, scorer, options, params } = fieldsOf(one);
    return {
      name: String(scorer ?? name).replace(/^inspect_ai\//, ''),
      options: fieldsOf(options ?? params),
    };
  });
  const samples = listOf(log.samples);
  const settings: Finding[] =
    samples.length === 0
      ? [{ ...root, type: 'samples', verdict: 'none', why: 'the log has no samples' }]
      : [];
  // Every run of a sample is a case with its answer. A repeated id gets `-2`.
  const cases = samples.map((sample, i) =>
    sampleCase(fieldsOf(sample), scorers, placeOf(sample, root), i),
  );
  const ids = new Set(cases.map(({ name }) => name));
  if (ids.size < cases.length)
    settings.push({
      ...root,
      type: 'epochs',
      verdict: 'close',
      why: `${cases.length} samples have ${ids.size} ids: each is a case that has to pass (ID, ID-2, …), and no reducer joins their scores`,
    });
  return { agent: String(spec.task), cases, settings };
}

function readSamples(file: SourceFile, { map }: SourceOptions): ConvertedSuite {
  const root: Place = { file: file.name, line: 1 };
  const scorers = map.scorer === undefined ? [] : [{ name: map.scorer, options: {} }];
  const settings: Finding[] =
    scorers.length > 0
      ? []
      : [
          {
            ...root,
            type: 'scorer',
            verdict: 'none',
            why: 'a dataset does not say how it is scored: --map scorer=includes',
          },
        ];
  return {
    agent: file.base.replace(/\.\w+$/, ''),
    cases: listOf(file.value).map((sample, i) =>
      sampleCase(fieldsOf(sample), scorers, placeOf(sample, root), i),
    ),
    settings,
  };
}

function sampleCase(
  sample: Fields,
  scorers: readonly Scorer[],
  place: Place,
  index: number,
): ConvertedCase {
  const choices = listOf(sample.choices).map(String);
  const asked = Array.isArray(sample.input) ? messagesText(sample.input) : textOf(sample.input);
  const query =
    asked === undefined || choices.length === 0
      ? asked
      : `${asked}\n\n${choices.map((choice, i) => `${String.fromCharCode(65 + i)}) ${choice}`).join('\n')}`;
  const targets = (Array.isArray(sample.target) ? sample.target : [sample.target]).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' ? [String(one)] : [],
  );
  const metadata = fieldsOf(sample.metadata);
  const recording = recordingOf(sample);
  return {
    place,
    name: sample.id === undefined || sample.id === null ? `sample-${index + 1}` : String(sample.id),
    query: query ?? '(no input)',
    metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
    carried: scorers.map((scorer) => scoredBy(scorer, targets, place)),
    skip: query === undefined ? 'the sample has no input' : undefined,
    recording,
  };
}

function recordingOf(sample: Fields): Block | undefined {
  const output = fieldsOf(sample.output);
  const answer =
    textOf(output.completion) ??
    contentText(fieldsOf(fieldsOf(listOf(output.choices)[0]).message).content);
  return answer === undefined ? undefined : { answer };
}
