import { dirname, relative, sep } from 'node:path';
import { defined, isObject } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import type { Block, Finding, Place } from '../../model.ts';
import { placeOf, placeOfItem } from '../../places.ts';
import type { SourceOptions } from '../../source.ts';
import { httpRunner } from './http-provider.ts';
import type { Vars } from './render.ts';
import type { RunnerOutcome } from './runner-outcome.ts';

export interface Providers {
  readonly runner?: Block;
  readonly matrix?: Block;
  readonly closeRunner?: string;
  readonly findings: readonly Finding[];
  /** Variables in the runner's texts. */
  readonly variables: readonly string[];
  /** The providers covered by the runner and the matrix. */
  readonly kept: readonly Kept[];
  /** The reason why assertions do not see the original answer. */
  readonly changes?: string;
}

export interface Kept {
  /** Its names in filters: its label and its id. */
  readonly names: readonly string[];
  /** Its prompts. Default: all. */
  readonly prompts: unknown;
}

interface Provider extends Kept {
  readonly id: string;
  readonly config: Vars;
  readonly place: Place;
  readonly transform: unknown;
}

/** The providers of a config as the runner of a spec. Several models become a matrix. */
export function readProviders(
  written: unknown,
  file: SourceFile,
  options: SourceOptions,
): Providers {
  const providers = listed(written, file);
  const findings: Finding[] = [];
  const changes = providers.some(({ transform }) => transform !== undefined)
    ? { changes: 'a transform of the provider changes the answer with code before it is judged' }
    : {};
  const outcomes = providers.map((provider) => ({
    provider,
    outcome: runnerOf(provider, file, options),
  }));
  const carried = outcomes.flatMap(({ provider, outcome }) =>
    'runner' in outcome ? [{ provider, outcome }] : [],
  );
  for (const { provider, outcome } of outcomes)
    if ('none' in outcome)
      findings.push({
        ...provider.place,
        type: `provider ${provider.id}`,
        verdict: 'none',
        why: outcome.none,
      });
  const [first, ...others] = carried;
  if (first === undefined) return { findings, variables: [], kept: [], ...changes };
  const isModels = carried.every(({ outcome }) => outcome.runner.model !== undefined);
  const rest = ({ outcome }: (typeof carried)[number]): string =>
    JSON.stringify({ ...outcome.runner, model: '' });
  const alike = isModels ? carried.filter((one) => rest(one) === rest(first)) : [first];
  for (const { provider, outcome } of carried)
    findings.push(
      findingOf(
        provider,
        outcome,
        alike.some((one) => one.provider === provider),
      ),
    );
  const variables = [...new Set(first.outcome.variables ?? [])];
  const kept = alike.map(({ provider: { names, prompts } }) => ({ names, prompts }));
  const left = alike.flatMap(({ outcome }) => outcome.close ?? [])[0];
  const close = left === undefined ? {} : { closeRunner: left };
  const models = [...new Set(alike.map(({ outcome }) => outcome.runner.model as string))];
  const isOne = alike.length <= 1 || others.length === 0 || models.length === 1;
  return {
    ...(isOne
      ? { runner: first.outcome.runner }
      : { runner: { ...first.outcome.runner, model: '{{model}}' }, matrix: { model: models } }),
    findings,
    variables,
    kept,
    ...close,
    ...changes,
  };
}

function findingOf(
  { id, place }: Provider,
  { runner, close }: { readonly runner: object; readonly close?: string | undefined },
  isKept: boolean,
): Finding {
  const found = { ...place, type: `provider ${id}` };
  if (!isKept)
    return {
      ...found,
      verdict: 'none',
      why: 'a spec has one runner: convert again with this provider alone',
    };
  return {
    ...found,
    verdict: close === undefined ? 'exact' : 'close',
    target: `runner.${Object.keys(runner)[0]}`,
    why: close,
  };
}

function listed(written: unknown, file: SourceFile): readonly Provider[] {
  const root = { file: file.name, line: 1 };
  const single = written === undefined || written === null ? [] : [written];
  const entries: readonly unknown[] = Array.isArray(written) ? written : single;
  return entries.flatMap((entry, index): Provider[] => {
    const place = placeOfItem(entries, index, placeOf(written, root));
    const bare = { config: {}, place, transform: undefined, prompts: undefined };
    if (typeof entry === 'string') return [{ id: entry, names: [entry], ...bare }];
    if (!isObject(entry)) return [{ id: 'unknown', names: [], ...bare }];
    const [key] = Object.keys(entry);
    const inner =
      typeof entry.id === 'string'
        ? entry
        : { id: key, ...(isObject(entry[key!]) ? (entry[key!] as Vars) : {}) };
    const config = isObject(inner.config) ? inner.config : {};
    const { label, prompts, transform } = inner as Vars;
    const names = [inner.id, label].filter((name) => typeof name === 'string') as string[];
    return [{ id: String(inner.id), names, prompts, config, place, transform }];
  });
}

/** The prompt is in the JSON on stdin. These commands pass it on like promptfoo. */
const READ = 'JSON.parse(require("node:fs").readFileSync(0)).query';
const ECHO = `process.stdout.write(${READ})`;
const EXEC = `const { status } = require("node:child_process").spawnSync(process.argv[1], [...process.argv.slice(2), ${READ}, "{}", "{}"], { stdio: ["ignore", "inherit", "inherit"] }); process.exit(status ?? 1)`;

const CODE =
  'code of the provider is not run here: start it with `runner: {command: […]}` or `{module: …}`';

function runnerOf(provider: Provider, file: SourceFile, options: SourceOptions): RunnerOutcome {
  const { id, config } = provider;
  if (id === 'echo') return { runner: { command: ['node', '-e', ECHO] } };
  if (/^exec:/.test(id)) return execRunner(id.slice('exec:'.length).trim(), file, options);
  if (/^https?(?::\/\/|$)/.test(id)) return httpRunner(id, config);
  if (/^(?:file:\/\/|python:|ruby:|golang:|package:)|\.(?:[cm]?[jt]s|py)$/.test(id))
    return { none: CODE };
  return modelRunner(id, config);
}

function execRunner(written: string, file: SourceFile, { outDir }: SourceOptions): RunnerOutcome {
  const parts =
    written
      .match(/"[^"]*"|'[^']*'|[^\s"']+/g)
      ?.map((part) => part.replace(/^(["'])(.*)\1$/, '$2')) ?? [];
  if (parts.length === 0 || /[|&;<>$`]/.test(written))
    return { none: 'the command needs a shell, and none is started here' };
  const cwd = relative(outDir, dirname(file.path)).split(sep).join('/');
  return {
    runner: defined({ command: ['node', '-e', EXEC, ...parts], cwd: cwd || undefined }),
    close: 'started with the prompt as its argument, with empty options and context after it',
  };
}

const OTHER_KINDS =
  /^(?:completion|embeddings?|image|moderation|realtime|assistant|transcription|video|speech|agents|codex)/;

function modelRunner(id: string, config: Vars): RunnerOutcome {
  const [provider = '', ...rest] = id.split(':');
  const name = modelName(provider, rest);
  if (name === undefined)
    return { none: `no runner asks "${id.slice(0, 80)}": a program of yours can` };
  const runner: Record<string, string | number> = { model: name };
  const left: string[] = [];
  for (const [key, value] of Object.entries(config)) {
    if (key === 'temperature' && typeof value === 'number') runner.temperature = value;
    else if (key === 'apiKeyEnvar' && typeof value === 'string') runner.api_key_env = value;
    else if (
      (key === 'apiBaseUrl' || key === 'baseUrl') &&
      typeof value === 'string' &&
      /^https?:\/\/[^{}]+$/.test(value)
    )
      runner.base_url = value;
    else left.push(key);
  }
  return {
    runner,
    close: left.length !== 0 ? `without ${left.slice(0, 8).join(', ')} of its config` : undefined,
  };
}

function modelName(provider: string, rest: readonly string[]): string | undefined {
  const [kind = '', ...more] = rest;
  if (kind === '' || OTHER_KINDS.test(kind)) return undefined;
  if (provider === 'openai') {
    if (kind === 'chat') return more.length === 0 ? undefined : `openai-chat:${more.join(':')}`;
    if (kind === 'responses') return more.length === 0 ? undefined : `openai:${more.join(':')}`;
    return `openai-chat:${rest.join(':')}`;
  }
  if (provider === 'anthropic') return `anthropic:${(kind === 'messages' ? more : rest).join(':')}`;
  if (provider === 'google' && kind !== 'live') return `google:${rest.join(':')}`;
  return undefined;
}
