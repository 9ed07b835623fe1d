import { join, resolve } from 'node:path';
import type { UserTake, UserWords } from '@agentci/capture';
import type { Budget, JudgeConfig } from '@agentci/judge';
import {
  createJudge,
  DEFAULT_MODEL,
  isFailure,
  type Judge,
  type JudgeFailureKind,
  type JudgeTask,
  taskPrompt,
} from '@agentci/judge';
import { present, sha256Hex } from '@agentci/lib/data';
import { SECRETS } from '@agentci/lib/secrets';
import { escapeJsonLine, isVisible } from '@agentci/lib/text';
import type { RunResult } from '@agentci/results';
import type { UserPlan } from '@agentci/spec';
import { seededRandom } from '@agentci/stats';
import { joinLines } from '@agentci/trace';
import type { ChatMessage } from '../runners/runner.ts';
import { simulatorFault } from '../simulator/simulator-faults.ts';
import { secretsOfBrief, withSecrets } from './brief-secrets.ts';
import type { RunOptions } from './run-options.ts';

export type PlayedMove =
  | { readonly kind: 'say'; readonly message: string; readonly isLast: boolean }
  | { readonly kind: 'lost'; readonly missing: string }
  /** `isUnavailable`: no model answered, which is not the fault of the model. */
  | { readonly kind: 'fault'; readonly message: string; readonly isUnavailable?: boolean };

/** The part of a cassette with the user's messages. */
export interface UserTapeAccess {
  readonly take: (key: string, said: number) => UserTake;
  readonly keep: (words: UserWords) => void;
}

/**
 * The models that simulate users in one run. Their replies are stored with those of the judge, and
 * their cost is counted separately.
 */
export class UserModels {
  readonly #options: RunOptions;
  readonly #budget: Budget;
  readonly #judges = new Map<string, Judge>();

  constructor(options: RunOptions, budget: Budget) {
    this.#options = options;
    this.#budget = budget;
  }

  /** The next message of the user. `done` in a reply counts after the agent has answered it. */
  async next(plan: UserPlan, { history, start, run, tape }: Situation): Promise<PlayedMove> {
    const reply = await this.#reply(
      plan,
      taskOf(plan, history, (this.#options.seed ?? 0) + run - 1),
      {
        said: history.length,
        tape,
      },
    );
    if ('why' in reply)
      return { kind: 'fault', message: reply.why, isUnavailable: reply.kind !== 'invalid' };
    const { done, reason, uses } = reply;
    const message = withSecrets(reply.message, secretsOfBrief(plan));
    const said = (role: ChatMessage['role']) =>
      history.flatMap((each) => (each.role === role ? [each.content] : []));
    const fault = simulatorFault({
      plan,
      start,
      message,
      before: said('user'),
      answers: said('assistant'),
      uses,
    });
    if (fault !== undefined) return { kind: 'fault', message: fault };
    const lost = OUT_OF_SCOPE.exec(reason);
    if (lost !== null)
      return {
        kind: 'lost',
        missing: reason.slice(lost[0].length).trim() || 'what the agent needs',
      };
    return { kind: 'say', message, isLast: done };
  }

  /** The model's reply, from the cassette if it has one, or the reason for its absence. */
  async #reply(
    plan: UserPlan,
    task: JudgeTask,
    { said, tape }: { readonly said: number; readonly tape: UserTapeAccess | undefined },
  ): Promise<UserReply | NoReply> {
    const model =
      plan.model ??
      (this.#options.suite.judgeConfig as JudgeConfig | undefined)?.model ??
      DEFAULT_MODEL;
    const key = sha256Hex(`${model}\n${taskPrompt(task).hash}`);
    const kept = tape?.take(key, said);
    if (kept?.kind === 'missed') return { why: kept.why };
    if (kept?.kind === 'known') {
      const why = task.check(kept.words.reply);
      return why === undefined
        ? (kept.words.reply as UserReply)
        : { why: `the recorded reply cannot be used: ${why}` };
    }
    const judge = this.#judgeOf(plan.model);
    if (judge.perform === undefined) return { why: 'the judge given cannot play a user' };
    const reply = await judge.perform(task);
    if (isFailure(reply)) return { why: reply.message, kind: reply.kind };
    // Replaces the names of secrets by the secrets again.
    tape?.keep({ key, model: reply.record.model, reply: SECRETS.value(reply.reply) });
    // The task's `check` has validated the shape.
    return reply.reply as UserReply;
  }

  /** Undefined if no model was asked. */
  usage(): RunResult['user'] {
    // A judge provided by the caller counts its own usage.
    const made = [...this.#judges.values()].filter((judge) => judge !== this.#options.judge);
    const all = made.flatMap((judge) => judge.usage?.() ?? []);
    if (all.length === 0) return undefined;
    const sum = (key: 'calls' | 'cached' | 'input_tokens' | 'output_tokens') =>
      all.reduce((n, each) => n + each[key], 0);
    return {
      calls: sum('calls'),
      cost_usd: all.some(({ cost_usd }) => cost_usd === null)
        ? null
        : all.reduce((n, { cost_usd }) => n + cost_usd!, 0),
      cached: sum('cached'),
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
    };
  }

  #judgeOf(model: string | undefined): Judge {
    const known = this.#judges.get(model ?? '');
    if (known !== undefined) return known;
    const { judge: asked, suite, env = {}, signal, judgeCacheDir, seed = 0 } = this.#options;
    const config = (suite.judgeConfig ?? {}) as JudgeConfig;
    const judge =
      typeof asked === 'object'
        ? asked
        : createJudge({
            ...config,
            model: model ?? config.model,
            // The user needs a model even if there are no rubrics.
            mode: asked === 'recorded' ? 'recorded' : 'live',
            cacheDir: resolve(judgeCacheDir ?? join(suite.dir, '.agentci', 'judge-cache')),
            env,
            signal,
            budget: this.#budget,
            random: seededRandom(seed),
          });
    this.#judges.set(model ?? '', judge);
    return judge;
  }
}

interface Situation {
  readonly history: readonly ChatMessage[];
  readonly start: string;
  readonly run: number;
  readonly tape?: UserTapeAccess | undefined;
}

interface NoReply {
  readonly why: string;
  readonly kind?: JudgeFailureKind;
}

interface UserReply {
  readonly message: string;
  readonly done: boolean;
  readonly reason: string;
  readonly uses: readonly string[];
}

/** Models write it in several ways. */
const OUT_OF_SCOPE = /^\s*["'*`]*out[_ -]of[_ -]scope\b["'*`]*[\s:.,-]*/i;

const INSTRUCTION = [
  'You play a person who talks to an agent. Write the next message of that person, in the first person, as people type: short, no lists, no labels.',
  'You know the persona, the facts and the goal in the blocks, and nothing else. Never state a number, id, name or date that is not in the facts or was not said in the conversation.',
  'The blocks "conversation" have one JSON object per line: {"person": what you said} or {"agent": what the agent said}. Only these keys say who spoke.',
  'Give a fact only when the agent asks or needs it. Never help the agent, never speak for it, never quote the persona or the goal.',
  'Set done to true only when, after the agent answers this message, nothing is left to say: the goal is reached, or it clearly cannot be. Agreeing to something is not the end: the agent still has to do it.',
  'A block named manner says how the person talks this time; it changes the words, never the facts or the goal.',
  'If the agent needs a fact that you do not have, set reason to "out_of_scope: " and what is missing.',
].join('\n');
/** The longest text that a block shows uncut. */
const MAX_SAID = 20_000;
const FORMAT =
  '{"message": "what the person says", "done": false, "reason": "why, in a few words", "uses": ["keys of the facts in the message"]}';

const TONES = [
  'plain',
  'friendly',
  'hurried',
  'hesitant',
  'formal',
  'casual',
  'a little annoyed',
  'chatty',
];
const LENGTHS = ['a few words', 'one short sentence', 'one or two sentences'];

/**
 * The manner of the person in one of several conversations. It depends on the seed, so that a run
 * repeats.
 */
const mannerOf = (seed: number): string =>
  `conversation ${seed + 1}; tone: ${TONES[seed % TONES.length]}; length: ${LENGTHS[seed % LENGTHS.length]}`;

/** Leaves out the checks of the query, because the simulated user must not know them. */
function taskOf(
  { persona, facts, goal }: UserPlan,
  history: readonly ChatMessage[],
  seed: number,
): JudgeTask {
  const said = history.map(({ role, content }) =>
    escapeJsonLine({ [role === 'user' ? 'person' : 'agent']: content }),
  );
  return {
    id: 'simulated-user',
    version: '2',
    what: `reply of the simulated user to message ${history.length}`,
    seed,
    instruction: INSTRUCTION,
    format: FORMAT,
    blocks: present([
      persona === undefined ? undefined : { name: 'persona', text: persona },
      {
        name: 'facts',
        text:
          Object.entries(facts)
            .map(([key, value]) => `${key}: ${value}`)
            .join('\n') || '(none)',
      },
      { name: 'goal', text: goal },
      ...joinLines(said, MAX_SAID).map((text) => ({ name: 'conversation', text })),
      // Repeats are different conversations. The same input would get the same reply.
      seed > 0 ? { name: 'manner', text: mannerOf(seed) } : undefined,
    ]),
    check: (reply) => {
      const { message, done, reason, uses } = reply as Partial<Record<keyof UserReply, unknown>>;
      if (typeof message !== 'string' || message.trim() === '') return '"message" is not a text';
      if (!isVisible(message)) return '"message" has nothing but invisible characters';
      if (typeof done !== 'boolean') return '"done" is not true or false';
      if (typeof reason !== 'string') return '"reason" is not a text';
      if (!Array.isArray(uses) || uses.some((key) => typeof key !== 'string'))
        return '"uses" is not a list of texts';
      return undefined;
    },
  };
}
