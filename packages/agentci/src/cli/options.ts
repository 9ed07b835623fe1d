import { resolve } from 'node:path';
import { CASSETTE_MODES } from '@agentci/capture';
import type { CassetteChoice } from '@agentci/run';
import { MAX_SHARDS } from '@agentci/run';
import { MAX_TIMEOUT_MS } from '@agentci/spec';
import { InvalidArgumentError } from 'commander';

/** Parsers for option values. Errors name the option. */
export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (value > most) throw new InvalidArgumentError(`it must be at most ${most}.`);
    if (!Number.isInteger(value) || value < least)
      throw new InvalidArgumentError(`it must be a whole number of at least ${least}.`);
    return value;
  };
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0 || text.trim() === '')
    throw new InvalidArgumentError('it must be a number above 0.');
  return value;
}

/** A fraction: 0.2 or 20%. */
export function fraction(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(%)?$/.exec(text.trim());
  const value = match ? Number(match[1]) / (match[2] ? 100 : 1) : Number.NaN;
  if (!(value >= 0 && value <= 1))
    throw new InvalidArgumentError('it must be between 0 and 1, such as 0.2 or 20%.');
  return value;
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

/**
 * `500ms`, `30s`, `2m`. Rejects a bare number, because some readers would take it for seconds and
 * others for milliseconds.
 */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text.trim());
  if (match && match[2] === undefined)
    throw new InvalidArgumentError(
      `it has no unit: write ${match[1]}s, ${match[1]}ms or ${match[1]}m.`,
    );
  const value = match ? Number(match[1]) * UNITS[match[2]!]! : 0;
  if (value <= 0) throw new InvalidArgumentError('write it as 500ms, 30s or 2m.');
  if (value > MAX_TIMEOUT_MS)
    throw new InvalidArgumentError(`it must be at most a day (${MAX_TIMEOUT_MS / 60_000}m).`);
  return value;
}

/** Rejects smaller values. */
export const atLeast =
  (parse: (text: string) => number, least: number, shown: string) =>
  (text: string): number => {
    const value = parse(text);
    if (value < least) throw new InvalidArgumentError(`it must be at least ${shown}.`);
    return value;
  };

/** `10/s`, `300/m`. */
export function rate(text: string): { max: number; perMs: number } {
  const match = /^([1-9]\d{0,6})\/(s|m|h)$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError('write it as 10/s, 300/m or 5000/h.');
  return {
    max: Number(match[1]),
    perMs: { s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'],
  };
}

/** `record`, `replay=DIR`. */
export function cassetteChoice(text: string): CassetteChoice {
  const [, name = '', dir] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const mode = CASSETTE_MODES.find((known) => known === name);
  if (mode === undefined)
    throw new InvalidArgumentError(
      `it must be ${CASSETTE_MODES.join(', ')}, with =FOLDER after it if you like.`,
    );
  if (dir?.trim() === '') throw new InvalidArgumentError('it has no folder after "=".');
  return dir === undefined ? { mode } : { mode, dir };
}

/** One part of a run that is split across machines, counted from 1. */
export interface ShardChoice {
  readonly index: number;
  readonly count: number;
}

/** `2/8`. */
export function shardChoice(text: string): ShardChoice {
  const [, index, count] = /^(\d{1,15})\/(\d{1,15})$/.exec(text.trim()) ?? [];
  if (index === undefined)
    throw new InvalidArgumentError('write it as 2/8: the second of eight shards.');
  const choice = { index: Number(index), count: Number(count) };
  if (choice.count > MAX_SHARDS)
    throw new InvalidArgumentError(`at most ${MAX_SHARDS} shards are possible.`);
  if (choice.index < 1 || choice.index > choice.count)
    throw new InvalidArgumentError(
      choice.count === 0
        ? 'there must be at least one shard: write it as 1/4.'
        : `shards are numbered from 1 to ${choice.count}.`,
    );
  return choice;
}

/** Resolves the folder relative to the working directory. */
export const withFolder = (choice: CassetteChoice, cwd: string): CassetteChoice =>
  choice.dir === undefined ? choice : { ...choice, dir: resolve(cwd, choice.dir) };

/**
 * Collects repeated and comma-separated values. Rejects an empty value, because it would select
 * everything.
 */
export function collectList(text: string, previous: readonly string[] = []): string[] {
  const found = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  if (found.length === 0) throw new InvalidArgumentError('it is empty.');
  return [...previous, ...found];
}

/** Requires a non-blank text. */
export function someText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('it is empty.');
  return text;
}

export const collect = (text: string, previous: readonly string[] = []): string[] => [
  ...previous,
  text,
];

export function percent(text: string): number {
  const value = Number(text.trim().replace(/%$/, ''));
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('it must be a percentage of at least 0.');
  return value;
}

export function drops(
  text: string,
  previous: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const match = /^([\w.-]+)=(.+)$/.exec(text.trim());
  const value = Number(match?.[2]);
  if (!match || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('write it as pass_rate=0.05.');
  return { ...previous, [match[1]!]: value };
}
