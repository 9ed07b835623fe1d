import type { Trace, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { plainMessage, textOf } from '../../build/answer.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft, GapNote } from '../../build/draft.ts';
import { endingOf } from '../../build/ending.ts';
import { mentionsIn } from '../../build/mentions.ts';
import { turnsOf } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { usageOf } from '../../build/token-usage.ts';
import { sumUsage, tokensOf } from '../../build/usage.ts';
import { amount, fields, label, objects } from '../../build/values.ts';
import { type Attachments, attachmentsOf } from './inspect-attachments.ts';
import { eventSteps, inspectTurns } from './inspect-events.ts';

const WHOLE: Draft['records'] = AGENT_RECORD;
/** A sample without model replies was reduced, and the missing parts are unknown. */
const RESULTS_ONLY: Draft['records'] = {
  toolCalls: 'partial',
  toolResults: 'full',
  toolErrors: 'full',
};

/** One sample of one epoch. Its events say when and how long; a log without them has the conversation. */
export function sampleDraft(
  sample: Fields,
  { log, format }: { readonly log: Fields; readonly format: string },
): Draft {
  const attachments = attachmentsOf(sample);
  const evaluation = fields(log.eval);
  const events = objects(sample.events ?? fields(sample.transcript).events);
  const hasEvents = events.some(({ event }) => event === 'model' || event === 'tool');
  const model = label(evaluation.model);
  const talk = hasEvents
    ? { steps: eventSteps(events, { sample, attachments }), turns: [] }
    : conversation(inspectTurns(sample.messages, attachments), () => ({ model }));
  const usage = reportedUsage(sample, hasEvents ? events : []);
  const seconds = amount(sample.total_time);
  const failure = label(fields(sample.error).message);
  const limit = label(isFields(sample.limit) ? sample.limit.type : sample.limit);
  const answer = answerOf(sample, attachments);
  const run = label(evaluation.run_id) ?? 'run';
  return {
    source: {
      format,
      version: label(log.version),
      sdk: label(fields(evaluation.packages).inspect_ai),
    },
    id: label(sample.uuid) ?? `${run}/${label(sample.id) ?? '?'}/${label(sample.epoch) ?? '1'}`,
    ...talk,
    task: {
      id: label(sample.id),
      input: inputOf(sample, attachments),
      expected: sample.target ?? undefined,
    },
    final: answer === undefined ? undefined : { text: answer },
    outcomes: outcomesOf(sample),
    ...reportedOf(usage, seconds),
    mentions: mentionsOf(sample, events),
    gaps: commandsIn(events, talk.steps),
    ...ended(failure, limit),
    records: talk.steps.some(({ kind }) => kind === 'llm') ? WHOLE : RESULTS_ONLY,
    meta: { task: label(evaluation.task), epoch: amount(sample.epoch), model },
  };
}

/**
 * The sample's own total, if its model calls do not explain it. Scorers are part of the total, and
 * their events explain their share.
 */
function reportedUsage(sample: Fields, events: readonly Fields[]): Usage | undefined {
  const claimed = sumUsage(Object.values(fields(sample.model_usage)).map(usageOf));
  if (events.length === 0) return claimed;
  const used = allEvents(events).flatMap(({ event, output }) =>
    event === 'model' ? (tokensOf(usageOf(fields(output).usage)) ?? []) : [],
  );
  const summed = used.reduce((sum, tokens) => sum + tokens, 0);
  return (tokensOf(claimed) ?? 0) > summed * (1 + DRIFT) ? claimed : undefined;
}
const DRIFT = 0.02;

/** Called tools mentioned outside of steps: in messages, approvals and retried attempts. */
function mentionsOf(sample: Fields, events: readonly Fields[]): string[] {
  const approved = allEvents(events).flatMap(({ event, decision, call }) =>
    event === 'approval' && decision !== 'reject' ? (label(fields(call).function) ?? []) : [],
  );
  const retried = objects(sample.error_retries).flatMap((attempt) =>
    allEvents(objects(attempt.events)).flatMap((event) =>
      event.event === 'tool' ? (label(event.function) ?? []) : [],
    ),
  );
  return [...mentionsIn(sample.messages), ...approved, ...retried];
}

/** Commands that ran in the sandbox while no tool was called: something other than a recorded tool ran them. */
function commandsIn(events: readonly Fields[], steps: Draft['steps']): GapNote[] {
  if (steps.some(({ kind }) => kind === 'tool')) return [];
  const apart = new Set(
    events.flatMap(({ event, id, type, name }) =>
      event === 'span_begin' &&
      [type, name].some((word) => /^(?:init|setup|scorers?|sample_init)$/.test(String(word)))
        ? (label(id) ?? [])
        : [],
    ),
  );
  const ran = events.find(
    ({ event, action, span_id }) =>
      event === 'sandbox' && action === 'exec' && !apart.has(label(span_id) ?? ''),
  );
  return ran === undefined
    ? []
    : [{ gap: 'unknownStep', detail: `sandbox: ${(label(ran.cmd) ?? '').slice(0, 60)}` }];
}

const MAX_NESTED = 64;

/** Events with those inside them. */
function allEvents(events: readonly Fields[], depth = 0): readonly Fields[] {
  if (depth > MAX_NESTED) return [];
  return events.flatMap((event) => [event, ...allEvents(objects(event.events), depth + 1)]);
}

const reportedOf = (
  usage: Usage | undefined,
  seconds: number | undefined,
): Pick<Draft, 'reported'> =>
  usage === undefined && seconds === undefined
    ? {}
    : {
        reported: {
          usage,
          durationMs: seconds === undefined ? undefined : seconds * 1000,
        },
      };

function inputOf(
  sample: Fields,
  attachments: Attachments,
): NonNullable<NonNullable<Trace['task']>['input']> {
  return turnsOf(attachments.resolve(sample.input)).map(plainMessage);
}

function answerOf(sample: Fields, attachments: Attachments): string | undefined {
  const [choice] = objects(fields(sample.output).choices);
  const turn = turnsOf(attachments.resolve(choice?.message)).at(-1);
  // A sample that was cut off after a call has no answer yet.
  return (turn?.calls ?? []).length > 0 ? undefined : textOf(turn);
}

/** A score is one value, or several named ones. */
function outcomesOf(sample: Fields): NonNullable<Trace['outcomes']> {
  return Object.entries(fields(sample.scores)).flatMap(([scorer, score]) => {
    const { value } = fields(score);
    const values = isFields(value)
      ? Object.entries(value).map(([key, one]) => [`${scorer}.${key}`, one] as const)
      : [[scorer, value] as const];
    return values.flatMap(([name, one]) =>
      typeof one === 'string' ||
      typeof one === 'boolean' ||
      (typeof one === 'number' && Number.isFinite(one))
        ? [{ name, value: one, by: 'inspect-ai' }]
        : [],
    );
  });
}

function ended(
  failure: string | undefined,
  limit: string | undefined,
): Pick<Draft, 'status' | 'error' | 'ending'> {
  if (failure !== undefined) return { status: 'error', error: { message: failure } };
  if (limit === undefined) return {};
  return { status: 'incomplete', error: { type: `limit/${limit}` }, ending: endingOf(limit) };
}
