import type { Cassette, CassetteEntry } from '@agentci/capture';
import { DeltaWriter } from '@agentci/capture';
import { unpacked } from '@agentci/formats';
import { isObject, present } from '@agentci/lib/data';
import { stringifyExact } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import { clip } from '@agentci/lib/text';
import type { Io } from '../cli/io.ts';
import { type CassetteFlags, type CassettePlace, findCassettes, say } from './place.ts';

const MAX_SHOWN = 2000;

/** Prints a cassette for people: for each exchange, the new part of its request, and its reply. */
export function showCassette(cassette: Cassette): string[] {
  const deltas = new DeltaWriter();
  const calls = cassette.entries.flatMap((entry) => [
    `── ${entry.i} · ${entry.method} ${entry.path}${entry.model === undefined ? '' : ` · ${entry.model}`} · ${entry.status}`,
    ...requestLines(entry, deltas).map((line) => `→ ${line}`),
    ...replyLines(entry).map((line) => `← ${line}`),
    '',
  ]);
  const user = (cassette.user ?? []).flatMap(({ model, reply }, i) => [
    `── user ${i + 1} · ${model}`,
    ...cut(stringifyExact(reply, 2)).map((line) => `← ${line}`),
    '',
  ]);
  return [...calls, ...user];
}

function requestLines({ i, body }: CassetteEntry, deltas: DeltaWriter): string[] {
  if (body.kind === 'bytes') return [`${body.size} bytes, sha256 ${body.sha256}`];
  if (body.kind === 'text') return cut(body.text);
  const delta = deltas.write(i, body.value);
  if (delta === undefined) return cut(stringifyExact(body.value, 2));
  const { base, append = {}, set, unset } = delta;
  return present([
    `as exchange ${base}, and:`,
    ...Object.entries(append).flatMap(([name, { keep, add }]) => [
      `${name} from place ${keep + 1} on:`,
      ...add.flatMap((item) => cut(stringifyExact(item, 2))),
    ]),
    ...(set === undefined ? [] : cut(stringifyExact(set, 2))),
    unset === undefined ? undefined : `without ${unset.join(', ')}`,
  ]);
}

function replyLines({ headers, chunks }: CassetteEntry): string[] {
  const bytes = unpacked(Buffer.concat(chunks), headers['content-encoding']);
  const text = bytes.toString('utf8');
  if (text.includes('\uFFFD'))
    return [`${bytes.length} bytes of ${headers['content-type'] ?? 'unknown content'}`];
  try {
    const value: unknown = JSON.parse(text);
    return cut(isObject(value) || Array.isArray(value) ? JSON.stringify(value, null, 2) : text);
  } catch {
    return cut(text.trimEnd());
  }
}

const cut = (text: string): string[] => clip(text, MAX_SHOWN).split(/\r?\n/);

export function showRecording(
  place: CassettePlace,
  id: string | undefined,
  options: CassetteFlags,
  io: Io,
): number {
  const run = options.run ?? 1;
  const found = findCassettes(place);
  const wanted = found.filter(({ cassette }) => cassette?.id === id && cassette?.run === run);
  if (id === undefined || wanted.length === 0) {
    const broken = found.find(({ error }) => error !== undefined);
    const known = [...new Set(found.flatMap(({ cassette }) => cassette?.id ?? []))];
    throw new UserError(
      'CASSETTE_MISSING',
      id === undefined
        ? 'show needs the id of a query'
        : `no recording of run ${run} of "${id}" in ${place.shownDir}`,
      {
        hint:
          broken?.error?.message ??
          (known.length === 0
            ? 'Record one with: agentci test --cassette record'
            : `recorded: ${known.join(', ')}`),
      },
    );
  }
  for (const { file, cassette } of wanted) {
    say(io, `${file} · recorded ${cassette!.recordedAt}`);
    for (const line of showCassette(cassette!)) say(io, line);
  }
  return 0;
}
