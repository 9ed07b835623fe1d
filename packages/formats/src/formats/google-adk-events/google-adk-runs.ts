import { type Fields, isFields } from '@agentci/trace';
import { plainMessage, textOf } from '../../build/answer.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Draft, DraftTool, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { messageTurns } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { geminiUsage } from '../../build/token-usage.ts';
import { fields, label, objects, pick, time } from '../../build/values.ts';

export const ADK_RECORDS: Draft['records'] = MESSAGES_RECORD;

export const isEvent = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.author === 'string' &&
  (typeof value.invocationId === 'string' || typeof value.invocation_id === 'string');

/** The events of one invocation, from the question to the end. */
export function eventsDraft(run: {
  readonly id: string;
  readonly events: readonly Fields[];
  readonly session: Fields;
  readonly format: string;
}): Draft {
  const dialogue = new Dialogue();
  for (const event of run.events) {
    // Streamed pieces are repeated as a whole.
    if (event.partial === true) continue;
    addEvent(event, dialogue);
  }
  const failure = run.events.findLast(
    (event) => label(pick(event, 'errorCode', 'error_code')) !== undefined,
  );
  const failed = failure !== undefined && failure === run.events.at(-1);
  return {
    source: { format: run.format },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: { ...ADK_RECORDS, agents: 'full', handoffs: 'full' },
    id: run.id !== '' ? run.id : undefined,
    ...timeSpan(run.events.map(({ timestamp }) => time(timestamp))),
    status: failed ? ('error' as const) : undefined,
    error: failed ? failureOf(failure) : undefined,
    meta: {
      session: label(run.session.id),
      app: label(pick(run.session, 'appName', 'app_name')),
    },
  };
}

function addEvent(event: Fields, dialogue: Dialogue): void {
  const author = label(event.author) ?? 'unknown';
  const at = time(event.timestamp);
  const turns = messageTurns(fields(event.content)).map((turn) =>
    withOutcome({ ...turn, at: at ?? turn.at }),
  );
  const results = turns.filter(({ role }) => role === 'tool');
  const said = turns.filter(({ role }) => role !== 'tool');
  const { parts, calls } = {
    parts: said.flatMap((turn) => turn.parts),
    calls: said.flatMap((turn) => turn.calls ?? []),
  };
  const hasWords = parts.length > 0 || calls.length > 0;
  const hasError = label(pick(event, 'errorCode', 'error_code')) !== undefined;
  if (author === 'user') {
    if (hasWords) dialogue.hear({ role: 'user', parts, at });
  } else if (hasWords || hasError) {
    dialogue.reply(
      { role: 'assistant', parts, calls: calls.length !== 0 ? calls : undefined },
      {
        agent: author,
        t0: at,
        timing: at === undefined ? undefined : ('estimated' as const),
        status: hasError ? ('error' as const) : undefined,
        error: hasError ? failureOf(event) : undefined,
        usage: geminiUsage(pick(event, 'usageMetadata', 'usage_metadata')),
        finish: finishOf(pick(event, 'finishReason', 'finish_reason')),
        model: label(pick(event, 'modelVersion', 'model_version')),
      },
    );
  }
  dialogue.hear(...results);
  const to = label(pick(fields(event.actions), 'transferToAgent', 'transfer_to_agent'));
  if (to !== undefined && to !== author)
    dialogue.add({
      kind: 'handoff',
      from: author,
      to,
      mode: 'pass',
      status: 'ok',
      via: results[0]?.callId,
      t0: at,
    });
}

const failureOf = (event: Fields) => ({
  code: label(pick(event, 'errorCode', 'error_code')),
  message: label(pick(event, 'errorMessage', 'error_message')),
});

/**
 * ADK tools report failures by convention: `{error}` or `{status: "error"}`. Without either it is
 * unknown.
 */
export function withOutcome(turn: Turn): Turn {
  if (turn.role !== 'tool' || !isFields(turn.result)) return turn;
  const { error, status } = turn.result;
  const isError =
    (error !== undefined && error !== null && error !== false && error !== '') ||
    status === 'error';
  if (isError) {
    const said = label(error) ?? label(pick(turn.result, 'error_message', 'message'));
    return { ...turn, status: 'error', error: { message: said ?? JSON.stringify(turn.result) } };
  }
  return status === 'success' ? { ...turn, status: 'ok' } : turn;
}

/** A run in an evaluation result: the used tools and the answer, often without tool results. */
export function invocationDraft(
  invocation: Fields,
  { evalCase, format }: { readonly evalCase: Fields; readonly format: string },
): Draft {
  const asked = turnsIn(pick(invocation, 'user_content', 'userContent')).map(plainMessage);
  const answer = textOf(turnsIn(pick(invocation, 'final_response', 'finalResponse')).at(-1));
  const data = fields(pick(invocation, 'intermediate_data', 'intermediateData'));
  const events = objects(pick(data, 'invocation_events', 'invocationEvents'));
  const dialogue = new Dialogue();
  for (const event of events) addEvent(event, dialogue);
  const id = label(pick(invocation, 'invocation_id', 'invocationId'));
  const caseId = label(pick(evalCase, 'eval_id', 'evalId'));
  return {
    source: { format, dialects: ['eval-result'] },
    id,
    task: { input: asked, id: caseId },
    steps: events.length > 0 ? dialogue.steps : usedTools(data),
    turns: dialogue.turns,
    final: answer === undefined ? undefined : { text: answer },
    records: { toolCalls: 'full', toolArgs: 'full' },
  };
}

const turnsIn = (content: unknown): Turn[] => (isFields(content) ? messageTurns(content) : []);

function usedTools(data: Fields): DraftTool[] {
  const responses = objects(pick(data, 'tool_responses', 'toolResponses'));
  return objects(pick(data, 'tool_uses', 'toolUses')).map((use, i): DraftTool => {
    const callId = label(use.id);
    const response =
      responses.find((one) => callId !== undefined && label(one.id) === callId) ?? responses[i];
    return {
      kind: 'tool',
      name: label(use.name) ?? 'unknown',
      args: use.args ?? {},
      evidence: ['message'],
      callId,
      result: response?.response,
    };
  });
}
