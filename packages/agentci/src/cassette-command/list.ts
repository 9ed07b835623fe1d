import { plural } from '@agentci/lib/text';
import type { Io } from '../cli/io.ts';
import { ageDays } from './check.ts';
import {
  type CassetteFlags,
  type CassettePlace,
  complain,
  findCassettes,
  missingRuns,
  say,
} from './place.ts';

export function listCassettes(place: CassettePlace, options: CassetteFlags, io: Io): number {
  const found = findCassettes(place, options.id);
  const missing = missingRuns(place, options.id);
  const broken = found.filter(({ error }) => error !== undefined);
  if (options.json === true) {
    const cassettes = found.map(({ file, bytes, cassette, error, orphan }) => ({
      file,
      bytes,
      ...(cassette === undefined
        ? { error: error?.message ?? '' }
        : {
            query: cassette.id,
            run: cassette.run,
            exchanges: cassette.entries.length,
            models: modelsOf(cassette.entries),
            recorded_at: cassette.recordedAt,
            age_days: ageDays(cassette.recordedAt, io.now()),
            unused: orphan ?? null,
          }),
    }));
    io.stdout.write(
      `${JSON.stringify({ schema: 'agentci.cassettes/1', dir: place.shownDir, cassettes, missing }, null, 2)}\n`,
    );
    return broken.length > 0 ? 2 : 0;
  }
  if (found.length === 0)
    say(io, `no cassettes in ${place.shownDir}; record them with: agentci test --cassette record`);
  for (const { file, bytes, cassette, orphan } of found) {
    if (cassette === undefined) continue;
    const facts = [
      plural(cassette.entries.length, 'exchange'),
      modelsOf(cassette.entries).join(', '),
      sizeText(bytes),
      ageText(ageDays(cassette.recordedAt, io.now())),
      orphan === undefined ? '' : `unused: ${orphan}`,
    ];
    say(io, `${file}  ${facts.filter(Boolean).join(' · ')}`);
  }
  for (const { id, run } of missing)
    say(io, `${id}${run === 1 ? '' : ` run ${run}`}  not recorded`);
  for (const { error } of broken) complain(io, error!);
  return broken.length > 0 ? 2 : 0;
}

const modelsOf = (entries: readonly { readonly model?: string }[]): string[] => [
  ...new Set(entries.flatMap(({ model }) => model ?? [])),
];

const sizeText = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KB`;

const ageText = (days: number): string => (days < 1 ? 'today' : plural(Math.floor(days), 'day'));
