import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { best } from '../../build/likeness.ts';
import { fields, objects } from '../../build/values.ts';
import { problemWith } from '../../problem.ts';
import { sampleDraft } from './inspect-sample.ts';

const FORMAT = 'inspect-ai';

/**
 * Inspect logs: JSON, or `.eval`, a zip with one file per sample. One run per sample and epoch,
 * with scores as outcomes.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Inspect AI evaluation logs (.json and .eval)',
  unit: 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

const isLog = (value: unknown): value is Fields =>
  isFields(value) &&
  isFields(value.eval) &&
  ('plan' in value || 'samples' in value) &&
  ('status' in value || 'version' in value);

function likeness(value: unknown): number {
  if (isLog(value)) return 0.97;
  const file =
    isFields(value) && 'value' in value && typeof value.file === 'string' ? value.file : undefined;
  if (file === undefined) return 0;
  return /^(?:samples\/.*|_journal\/start|header)\.json$/.test(file) ? 0.97 : 0.2;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isLog(first.value))
    return records.flatMap((record) =>
      isLog(record.value) ? logItems(record, record.value, samplesOf(record.value)) : [],
    );
  const files = new Map<string, unknown>();
  for (const { value } of records)
    if (isFields(value) && typeof value.file === 'string') files.set(value.file, value.value);
  const header = fields(files.get('header.json') ?? files.get('_journal/start.json'));
  const samples = [...files]
    .filter(([name, value]) => name.startsWith('samples/') && isFields(value))
    .map(([, value]) => fields(value));
  return logItems(first, header, samples);
}

const samplesOf = (log: Fields): readonly Fields[] => objects(log.samples);

function logItems(record: RawRecord, log: Fields, samples: readonly Fields[]): AdapterItem[] {
  if (samples.length === 0)
    return [
      problemWith(record, {
        code: 'TRACE_NO_RECORDINGS',
        message: 'the log has no samples: it was written without them, or is only a header',
      }),
    ];
  return samples.flatMap((sample) =>
    tryBuild(record, () => sampleDraft(sample, { log, format: FORMAT })),
  );
}
