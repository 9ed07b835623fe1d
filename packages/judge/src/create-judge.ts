import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { pause, retryDelay } from '@agentci/lib/net';
import type { PriceTable } from '@agentci/lib/prices';
import { SECRETS } from '@agentci/lib/secrets';
import {
  pathOf,
  readStoredVerdict,
  type StoredVerdict,
  type VerdictKey,
  writeStoredVerdict,
} from './cache-files.ts';
import { addCost, addTokens, type CallTally, newTally, recordOf } from './call-tally.ts';
import { DEFAULT_ENSEMBLE, type JudgeConfig } from './judge-config.ts';
import { Limiter, type Limits } from './limiter.ts';
import { ModelError } from './model-error.ts';
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  KEY_VARIABLES,
  type ModelName,
  parseModelName,
  showModel,
} from './model-name.ts';
import { whyNotRecorded } from './not-recorded.ts';
import { parseVerdict } from './parse-verdict.ts';
import type {
  Judge,
  JudgeEmbeddings,
  JudgeFailure,
  JudgeFailureKind,
  JudgeQuestion,
  JudgeTask,
  JudgeUsage,
  TaskReply,
  Verdict,
} from './port.ts';
import { isFailure } from './port.ts';
import { type JudgePrompt, judgePrompt, repairPrompt } from './prompt.ts';
import {
  callModel,
  embedTexts,
  MAX_OUTPUT_TOKENS,
  type ModelReply,
  type ModelRequest,
} from './providers.ts';
import { keepReply, readStoredReply, readTaskReply, taskPrompt } from './task.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 2;
const DEFAULT_LIMITS: Limits = { concurrent: 4, perMinute: 600 };

/** Creates a judge. Loads and calls nothing before the first question that is not cached. */
export function createJudge(config: JudgeConfig = {}): Judge {
  return new ModelJudge(config);
}

interface Ask {
  readonly name: ModelName;
  readonly prompt: JudgePrompt;
  readonly key: VerdictKey;
  readonly hash: string;
}

class ModelJudge implements Judge {
  readonly ensemble?: { readonly size: number; readonly enabled: boolean };
  readonly #config: JudgeConfig;
  readonly #limiters = new Map<string, Limiter>();
  /** Concurrent equal questions share one call. */
  readonly #open = new Map<string, Promise<Verdict | JudgeFailure>>();
  readonly #openTasks = new Map<string, Promise<TaskReply | JudgeFailure>>();
  #usage = { calls: 0, cached: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 as number | null };
  readonly #unpriced = new Set<string>();
  #prices: Promise<PriceTable> | undefined;

  constructor(config: JudgeConfig) {
    this.#config = config;
    const { ensemble } = config;
    if (ensemble)
      this.ensemble = { size: modelsOf(ensemble).length, enabled: ensemble.enabled ?? false };
  }

  usage(): JudgeUsage {
    return { ...this.#usage, unpriced: [...this.#unpriced].sort() };
  }

  async ask(question: JudgeQuestion): Promise<Verdict | JudgeFailure> {
    const ask = this.#prepare(question);
    if (isFailure(ask)) return ask;
    const stored = this.#stored(ask);
    if (stored) return this.#fromCache(ask, stored);
    const open = this.#open.get(ask.hash);
    if (open) {
      const reply = await open;
      if (isFailure(reply)) return reply;
      this.#usage.cached++;
      return {
        ...reply,
        record: reply.record
          ? { ...reply.record, cached: true, calls: 0, cost_usd: 0 }
          : reply.record,
      };
    }
    const reply = this.#askModel(ask).finally(() => this.#open.delete(ask.hash));
    this.#open.set(ask.hash, reply);
    return reply;
  }

  async perform(task: JudgeTask): Promise<TaskReply | JudgeFailure> {
    const {
      model: written = DEFAULT_MODEL,
      temperature = 0,
      cacheDir,
      cache = true,
      mode,
    } = this.#config;
    const name = parseModelName(written, { hasBaseUrl: this.#config.base_url !== undefined });
    if (name === undefined)
      return failure('no_model', `unknown provider for judge model "${written}"`);
    const prompt = taskPrompt(task);
    const rubric = { id: task.id, version: task.version };
    const served = servedBy(this.#config);
    const key = { model: showModel(name), ...served, rubric, prompt_hash: prompt.hash, vote: 0 };
    const asked = { task: task.id, model: key.model, prompt: prompt.hash, temperature };
    const hash = sha256Hex(canonicalJson({ ...asked, ...served }));
    const ask = { name, prompt, key, hash };
    const stored =
      cacheDir !== undefined && (cache || mode === 'recorded')
        ? readStoredReply(cacheDir, hash, key)
        : undefined;
    if (stored !== undefined) {
      const read = readTaskReply(stored, task);
      if (read.ok) {
        this.#usage.cached++;
        return {
          reply: read.reply,
          record: { ...key, cached: true, calls: 0, cost_usd: 0, raw: stored },
        };
      }
    }
    const open = this.#openTasks.get(hash);
    if (open) return open;
    const reply = this.#performTask(ask, task).finally(() => this.#openTasks.delete(hash));
    this.#openTasks.set(hash, reply);
    return reply;
  }

  async embed(texts: readonly string[], model?: string): Promise<JudgeEmbeddings> {
    const { base_url, mode, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS, signal } = this.#config;
    const not = (reason: string): JudgeEmbeddings => ({ ok: false, reason });
    if (mode === 'recorded')
      return not('embeddings are not stored, and --judge recorded makes no calls');
    const hasBaseUrl = base_url !== undefined;
    const judge = parseModelName(this.#config.model ?? DEFAULT_MODEL, { hasBaseUrl });
    const usual = judge === undefined ? undefined : EMBEDDING_MODELS[judge.provider];
    let name: ModelName | undefined;
    if (model === undefined)
      name =
        judge !== undefined && usual !== undefined
          ? { provider: judge.provider, model: usual }
          : undefined;
    else name = parseModelName(model, { hasBaseUrl });
    if (name === undefined)
      return not(
        model === undefined
          ? 'the provider of the judge has no embedding model'
          : `unknown provider for the embedding model "${model}"`,
      );
    const apiKey = this.#key(name);
    if (isFailure(apiKey)) return not(apiKey.message);
    try {
      const limiter = this.#limiter(name.provider);
      const vectors = await limiter.run(() => {
        this.#usage.calls++;
        return embedTexts(texts, {
          name,
          baseUrl: base_url,
          apiKey: apiKey.value,
          timeoutMs,
          signal,
        });
      });
      return { ok: true, vectors, model: showModel(name) };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      return not(`${showModel(name)}: ${error.message}`);
    }
  }

  async #performTask(ask: Ask, task: JudgeTask): Promise<TaskReply | JudgeFailure> {
    const asked = this.#request(ask, task);
    if (isFailure(asked)) return asked;
    const request = { ...asked, seed: task.seed };
    const draft = newTally();
    let why = '';
    let raw: string | undefined;
    for (const user of [() => ask.prompt.user, () => repairPrompt(ask.prompt.user, why)]) {
      const said = await this.#call(ask, { ...request, structured: false, user: user() }, draft);
      if (isFailure(said)) return said;
      raw = said.text;
      const refusal =
        task.what === undefined
          ? 'the judge refused to answer'
          : `the model refused to give the ${task.what}`;
      if (said.refused) return this.#fail(ask, 'refusal', refusal, draft, raw);
      const read = readTaskReply(said.text, task);
      if (read.ok) {
        const { cacheDir, cache = true } = this.#config;
        if (cacheDir !== undefined && cache)
          keepReply(cacheDir, ask.hash, ask.key, said.text, draft.warnings);
        return { reply: read.reply, record: recordOf(ask.key, draft, said.text) };
      }
      why = read.why;
    }
    return this.#fail(ask, 'invalid', `no usable reply in two: ${why}`, draft, raw);
  }

  #prepare(question: JudgeQuestion): Ask | JudgeFailure {
    const { vote = 0, repeat = 0, rubric } = question;
    const {
      model: single = DEFAULT_MODEL,
      ensemble,
      temperature = 0,
      structured_output = true,
    } = this.#config;
    const written = vote === 0 ? single : ensemble && modelsOf(ensemble)[vote - 1];
    if (written === undefined)
      return failure('no_model', `the ensemble has no judge number ${vote}`);
    const name = parseModelName(written, { hasBaseUrl: this.#config.base_url !== undefined });
    if (name === undefined) {
      return failure(
        'no_model',
        `unknown provider for judge model "${written}": write it as anthropic:, openai:, openai-chat: or google: and its name, or set judge_config.base_url`,
      );
    }
    const prompt = judgePrompt(question);
    const served = servedBy(this.#config);
    const key = {
      model: showModel(name),
      ...served,
      rubric: { id: rubric.id, version: rubric.version },
      prompt_hash: prompt.hash,
      vote,
    };
    const asked = {
      model: key.model,
      prompt: prompt.hash,
      vote,
      repeat,
      temperature,
      structured_output,
    };
    const hash = sha256Hex(canonicalJson({ ...asked, ...served }));
    return { name, prompt, key, hash };
  }

  #stored({ hash, key }: Ask): StoredVerdict | undefined {
    const { cacheDir, cache = true, mode } = this.#config;
    return cacheDir !== undefined && (cache || mode === 'recorded')
      ? readStoredVerdict(cacheDir, hash, key)
      : undefined;
  }

  #fromCache({ key }: Ask, stored: StoredVerdict): Verdict {
    this.#usage.cached++;
    const { verdict, ...rest } = stored;
    return { ...verdict, record: { ...key, cached: true, calls: 0, cost_usd: 0, ...rest } };
  }

  async #askModel(ask: Ask): Promise<Verdict | JudgeFailure> {
    const request = this.#request(ask);
    if (isFailure(request)) return request;
    const { prompt } = ask;
    const draft = newTally();
    const first = await this.#call(ask, request, draft);
    if (isFailure(first)) return first;
    const verdict = readReply(first);
    if (!('error' in verdict)) return this.#accept(ask, verdict, first, draft);
    if (verdict.kind === 'refusal')
      return this.#fail(ask, 'refusal', verdict.message, draft, first.text);
    const second = await this.#call(
      ask,
      { ...request, user: repairPrompt(prompt.user, verdict.message) },
      draft,
    );
    if (isFailure(second)) return second;
    const repaired = readReply(second);
    if (!('error' in repaired)) return this.#accept(ask, repaired, second, draft);
    const { kind, message } = repaired;
    return this.#fail(
      ask,
      kind,
      kind === 'invalid' ? `no verdict in two replies: ${message}` : message,
      draft,
      second.text,
    );
  }

  #request({ key, name, prompt, hash }: Ask, task?: JudgeTask): ModelRequest | JudgeFailure {
    const { mode, cacheDir } = this.#config;
    if (mode === 'recorded') {
      // A complete one would have been used before.
      const damaged =
        cacheDir !== undefined &&
        existsSync(pathOf(cacheDir, hash)) &&
        pathOf(basename(cacheDir), hash);
      return failure('not_recorded', whyNotRecorded(key.model, { damaged, task }));
    }
    const apiKey = this.#key(name);
    if (isFailure(apiKey)) return apiKey;
    return {
      name,
      system: prompt.system,
      user: prompt.user,
      temperature: this.#config.temperature ?? 0,
      structured: this.#config.structured_output ?? true,
      baseUrl: this.#config.base_url,
      apiKey: apiKey.value,
      timeoutMs: this.#config.timeout_ms ?? DEFAULT_TIMEOUT_MS,
      signal: this.#config.signal,
    };
  }

  /** Gets one reply, with retries. Every attempt is paid for and counted. */
  async #call(
    ask: Ask,
    request: ModelRequest,
    draft: CallTally,
  ): Promise<ModelReply | JudgeFailure> {
    const { retries = DEFAULT_RETRIES, budget, random = () => 0.5, signal } = this.#config;
    const limiter = this.#limiter(ask.name.provider);
    this.#prices ??= import('@agentci/lib/prices').then(({ loadPrices }) => loadPrices());
    const { lookup } = await this.#prices;
    const price = (usage: ModelReply['usage']): number | undefined =>
      lookup({ model: ask.name.model, provider: priceProvider(ask.name), usage })?.usd;
    // Three characters per token is a safe estimate for every script and tokenizer.
    const most = price({
      input: Math.ceil(((request.system?.length ?? 0) + request.user.length) / 3) + 200,
      output: MAX_OUTPUT_TOKENS,
    });
    for (let attempt = 0; ; attempt++) {
      if (signal?.aborted) return this.#fail(ask, 'interrupted', 'the run was interrupted', draft);
      if (budget && most !== undefined && !budget.reserve(most))
        return this.#fail(
          ask,
          'budget',
          `not asked: the call may cost up to $${most.toFixed(4)}, more than --max-cost leaves`,
          draft,
        );
      try {
        const reply = await limiter.run(() => {
          draft.calls++;
          this.#usage.calls++;
          return callModel(request).catch((error: unknown) => {
            // Before the next call in the queue starts.
            if (error instanceof ModelError && error.retryAfterMs !== undefined)
              limiter.pause(retryDelay(0, error.retryAfterMs, () => 0));
            throw error;
          });
        });
        const costUsd = price(reply.usage);
        budget?.settle(most ?? 0, costUsd ?? 0);
        this.#count(ask, reply, costUsd, draft);
        return reply;
      } catch (error) {
        budget?.settle(most ?? 0, 0);
        if (!(error instanceof ModelError)) throw error;
        if (error.kind !== 'infra' || attempt >= retries) {
          const tries = attempt === 0 ? '' : ` (after ${attempt + 1} tries)`;
          const label = error.kind === 'infra' ? '[INFRA] ' : '';
          return this.#fail(ask, error.kind, `${label}${error.message}${tries}`, draft);
        }
        await pause(retryDelay(attempt, error.retryAfterMs, random), signal);
      }
    }
  }

  #count(
    ask: Ask,
    { usage, warnings }: ModelReply,
    costUsd: number | undefined,
    draft: CallTally,
  ): void {
    draft.input = addTokens(draft.input, usage.input);
    draft.output = addTokens(draft.output, usage.output);
    this.#usage.input_tokens += usage.input ?? 0;
    this.#usage.output_tokens += usage.output ?? 0;
    const known = usage.input === undefined && usage.output === undefined ? undefined : costUsd;
    draft.costUsd = addCost(draft.costUsd, known);
    this.#usage.cost_usd = addCost(this.#usage.cost_usd, known);
    if (known === undefined) this.#unpriced.add(ask.key.model);
    for (const warning of warnings) draft.warnings.add(warning);
  }

  #accept(ask: Ask, verdict: Verdict, reply: ModelReply, draft: CallTally): Verdict {
    const { cacheDir, cache = true } = this.#config;
    if (cacheDir !== undefined && cache) {
      try {
        const { raw, input_tokens, output_tokens, warnings } = recordOf(ask.key, draft, reply.text);
        writeStoredVerdict(cacheDir, ask.hash, ask.key, {
          verdict,
          raw: raw ?? '',
          input_tokens,
          output_tokens,
          warnings,
        });
      } catch (error) {
        // A verdict that cannot be stored is still a verdict.
        draft.warnings.add(`not stored: ${(error as Error).message}`);
      }
    }
    return { ...verdict, record: recordOf(ask.key, draft, reply.text) };
  }

  #fail(
    ask: Ask,
    kind: JudgeFailureKind,
    message: string,
    draft: CallTally,
    raw?: string,
  ): JudgeFailure {
    return {
      ...failure(kind, `${ask.key.model}: ${message}`),
      record: recordOf(ask.key, draft, raw),
    };
  }

  #key({ provider }: ModelName): { readonly value: string | undefined } | JudgeFailure {
    const { api_key_env, env = {} } = this.#config;
    const names = api_key_env === undefined ? KEY_VARIABLES[provider] : [api_key_env];
    if (names.length === 0) return { value: undefined };
    const name = names.find((name) => env[name]?.trim());
    if (name !== undefined) {
      const value = env[name]!.trim();
      SECRETS.add([{ name, value }]);
      return { value };
    }
    return failure('no_key', `the judge has no key: set ${names.join(' or ')}`);
  }

  #limiter(provider: string): Limiter {
    let limiter = this.#limiters.get(provider);
    if (limiter === undefined) {
      const { limits = DEFAULT_LIMITS, signal } = this.#config;
      limiter = new Limiter(limits, {
        now: () => performance.now(),
        sleep: (ms) => pause(ms, signal),
      });
      this.#limiters.set(provider, limiter);
    }
    return limiter;
  }
}

const failure = (kind: JudgeFailureKind, message: string): JudgeFailure => ({
  error: true,
  kind,
  message,
});

function readReply(
  reply: ModelReply,
):
  | Verdict
  | { readonly error: true; readonly kind: 'refusal' | 'invalid'; readonly message: string } {
  if (reply.refused)
    return { error: true, kind: 'refusal', message: 'the judge refused to answer' };
  const verdict = parseVerdict(reply.text);
  return 'error' in verdict ? { ...verdict, kind: 'invalid' } : verdict;
}

const priceProvider = ({ provider }: ModelName): string =>
  provider === 'openai-chat' ? 'openai' : provider;

/**
 * The model's server, as part of the key, because a name may be another model on another server.
 * Omitted for the providers' own servers, so that older stored verdicts stay valid.
 */
function servedBy({ base_url }: JudgeConfig): { readonly base_url?: string } {
  if (base_url === undefined) return {};
  try {
    const { origin, pathname } = new URL(base_url);
    return { base_url: `${origin}${pathname.replace(/\/+$/, '')}` };
  } catch {
    return { base_url };
  }
}

const modelsOf = ({
  models = DEFAULT_ENSEMBLE,
}: NonNullable<JudgeConfig['ensemble']>): readonly string[] => models;
