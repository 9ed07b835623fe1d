import { join, resolve } from 'node:path';
import type { JudgeConfig } from '@agentci/judge';
import { capLength, createJudge, isFailure, type Judge, type JudgeTask } from '@agentci/judge';
import { isObject, present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { CheckResult, UserAudit } from '@agentci/results';
import type { Query, UserPlan } from '@agentci/spec';
import { seededRandom, wilsonInterval } from '@agentci/stats';
import type { Trace } from '@agentci/trace';
import { joinLines, TRANSCRIPT_FORM, transcriptLines, turnsOf } from '@agentci/trace';
import type { Ledger } from './ledger.ts';
import type { RunOptions } from './run-options.ts';
import type { AuditParts } from './run-parts.ts';
import { userFaults } from './user-fault.ts';

const MAX_TEXT = 20_000;

/**
 * Measures how often the model that simulates users makes mistakes. Uses deterministic detectors,
 * and a judge with the brief and the conversation for the rest. Does not change verdicts on the
 * agent.
 */
export class UserAuditor {
  readonly #judge: Judge;
  readonly #faults: UserAudit['faults'] = [];
  #conversations = 0;
  #faulty = 0;
  #messages = 0;
  #faultyMessages = 0;
  #undecided = 0;
  #why: string | undefined;

  constructor(options: RunOptions, queries: readonly Query[], ledger: Ledger) {
    const { judge: asked, suite, env = {}, signal, judgeCacheDir, seed = 0 } = options;
    if (asked === 'off')
      throw new UserError('OPTIONS_CONFLICT', '--audit-user asks a judge, and --judge is off', {
        hint: 'Leave out --judge off or --audit-user.',
      });
    if (!queries.some(({ conversation }) => conversation?.user !== undefined))
      throw new UserError(
        'NOTHING_FOUND',
        'no selected query has a user that a model plays, so there is none to audit',
        {
          hint: 'A model plays the user of a conversation with "user: {goal: …}".',
        },
      );
    this.#judge =
      typeof asked === 'object'
        ? asked
        : createJudge({
            ...((suite.judgeConfig ?? {}) as JudgeConfig),
            mode: asked ?? 'live',
            cacheDir: resolve(judgeCacheDir ?? join(suite.dir, '.agentci', 'judge-cache')),
            env,
            signal,
            budget: ledger,
            random: seededRandom(seed),
          });
  }

  /** Audits one conversation. Skips those without a simulated user. */
  async look(query: Query, trace: Trace): Promise<void> {
    const { id } = query;
    const plan = query.conversation?.user;
    if (plan === undefined || trace.conversation === undefined) return;
    const { fault } = trace.conversation;
    // The first message comes from the spec, not from the model.
    const said = turnsOf(trace).slice(1);
    const messages =
      said.length + (fault?.kind === 'simulator' && trace.conversation.ending === 'error' ? 1 : 0);
    if (fault?.unavailable === true || trace.conversation.ending === 'out_of_scope') {
      this.#undecided++;
      this.#why ??= fault?.message ?? 'the brief lacks a fact';
      return;
    }
    if (fault?.kind === 'simulator') {
      this.#count(messages, [
        { id, turn: fault.turn ?? said.length + 1, by: 'detector', what: fault.message },
      ]);
      return;
    }
    const seen = userFaults(query, trace);
    if (seen.length > 0) {
      this.#count(
        messages,
        seen.map(({ turn, message }) => ({ id, turn, by: 'detector', what: message })),
      );
      return;
    }
    if (messages === 0) return;
    const found = await this.#ask(plan, trace);
    if (typeof found === 'string') {
      this.#undecided++;
      this.#why ??= found;
      return;
    }
    this.#count(
      messages,
      found.map(({ turn, what }) => ({ id, turn, by: 'judge', what })),
    );
  }

  #count(messages: number, faults: UserAudit['faults']): void {
    this.#conversations++;
    this.#messages += messages;
    if (faults.length > 0) this.#faulty++;
    this.#faultyMessages += new Set(faults.map(({ turn }) => turn)).size;
    this.#faults.push(...faults);
  }

  async #ask(
    plan: UserPlan,
    trace: Trace,
  ): Promise<readonly { turn: number; what: string }[] | string> {
    if (this.#judge.perform === undefined) return 'the judge given only scores rubrics';
    const reply = await this.#judge.perform(auditTask(plan, trace));
    return isFailure(reply)
      ? reply.message
      : (reply.reply as { faults: { turn: number; what: string }[] }).faults;
  }

  /** The findings over the whole run. */
  parts(): AuditParts {
    const usage = this.#judge.usage?.();
    return {
      conversations: this.#conversations,
      faulty: this.#faulty,
      messages: this.#messages,
      faulty_messages: this.#faultyMessages,
      undecided: this.#undecided,
      faults: this.#faults.slice(0, MAX_LISTED),
      judge: { calls: usage?.calls ?? 0, cost_usd: usage?.cost_usd ?? null },
      why: this.#why,
    };
  }
}

const LEVEL = 0.95;
const MAX_LISTED = 100;
const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** The audit for reports. */
export function auditReport({ why: _, ...parts }: AuditParts): UserAudit {
  const { conversations, faulty, messages, faulty_messages, undecided, faults, judge } = parts;
  const interval = wilsonInterval(faulty, conversations);
  return {
    conversations,
    faulty,
    rate: conversations === 0 ? null : faulty / conversations,
    interval: interval === null ? null : { ...interval, level: LEVEL },
    messages,
    faulty_messages,
    undecided,
    faults: faults.slice(0, MAX_LISTED),
    judge,
  };
}

/** The audit in one line of a report. */
export function auditNotice(parts: AuditParts): string {
  const { conversations, faulty, rate, interval, messages, faulty_messages, undecided, judge } =
    auditReport(parts);
  const open = undecided === 0 ? '' : `; ${undecided} could not be audited (${parts.why})`;
  if (rate === null || interval === null)
    return `simulated user: not audited, no conversation could be looked at${open}`;
  const share = `${percent(rate)}, 95 % interval ${percent(interval.low)} to ${percent(interval.high)}`;
  const cost = judge.cost_usd === null ? 'unknown cost' : `$${judge.cost_usd.toFixed(4)}`;
  return `simulated user: a fault in ${faulty} of ${plural(conversations, 'conversation')} (${share}), in ${faulty_messages} of ${plural(messages, 'message')}${open}; the audit took ${plural(judge.calls, 'call')}, ${cost}`;
}

/** A requested audit that saw nothing is not a clean one. */
export function auditChecks({ conversations, why }: AuditParts): CheckResult[] {
  if (conversations > 0) return [];
  return [
    {
      id: 'user.audit',
      status: 'error',
      message: `the user could not be audited: ${why ?? 'no conversation came so far that the user said something'}`,
      value: 0,
      limit: 1,
      evidence: [],
    },
  ];
}

const INSTRUCTION = [
  `The blocks "conversation" hold a conversation, ${TRANSCRIPT_FORM}`,
  'A model played the user in it. Find the mistakes of that user. The blocks "persona", "facts" and "goal" are all it was told; it is not told what the agent should do.',
  'A mistake is a message in which the user: states something as a fact that is neither in the blocks nor was said before; acts against its persona or its goal; speaks or acts as the agent; helps the agent with what only the agent should know; accepts or drops something the goal needs; or ends the conversation before the goal was reached although the agent could still have reached it.',
  'Whatever the agent does wrong is not a mistake of the user. Odd wording, short answers and holding back facts until asked are not mistakes. The message of turn 1 was given and is never one.',
].join('\n');

function auditTask({ persona, facts, goal }: UserPlan, trace: Trace): JudgeTask {
  const turns = turnsOf(trace);
  const last = turns.at(-1)?.turn ?? 1;
  const known = Object.entries(facts).map(([key, value]) => `${key}: ${value}`);
  return {
    id: 'user-audit',
    version: '2',
    instruction: INSTRUCTION,
    format: `{"faults": [{"turn": 2 to ${last}, "what": short text}, ...]}   an empty list where there is none`,
    blocks: present([
      persona === undefined ? undefined : { name: 'persona', text: persona },
      { name: 'facts', text: known.join('\n') || '(none)' },
      { name: 'goal', text: goal },
      ...joinLines(
        transcriptLines(trace, (text) => capLength(text, MAX_TEXT / 2 - 100)),
        MAX_TEXT,
      ).map((text) => ({ name: 'conversation', text })),
    ]),
    check: (reply) => {
      const faults = isObject(reply) ? reply.faults : undefined;
      if (!Array.isArray(faults)) return '"faults" must be a list';
      const isFault = (each: unknown): boolean =>
        isObject(each) &&
        typeof each.what === 'string' &&
        turns.some(({ turn }) => turn > 1 && turn === each.turn);
      return faults.every(isFault)
        ? undefined
        : `each fault has "turn" from 2 to ${last} and "what"`;
    },
  };
}
