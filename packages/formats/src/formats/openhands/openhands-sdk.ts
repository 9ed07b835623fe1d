import { present } from '@agentci/lib/data';
import type { Step } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf, UNNAMED } from '../../build/blocks.ts';
import { Dialogue, extend, type OpenReply } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { messageTurns, turnOfText } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { timeSpan } from '../../build/time-span.ts';
import { argumentsOf, fields, label, pick, resultOf, text, time } from '../../build/values.ts';

const KIND =
  /^(?:[A-Z][A-Za-z]*(?:Event|Observation)|Condensation|CondensationRequest|CondensationSummaryEvent)$/;
/** Events about the program, not the run. */
const QUIET =
  /^(?:ConversationStateUpdateEvent|PauseEvent|Condensation\w*|TokenEvent|StreamingDeltaEvent|LLMCompletionLogEvent|HookExecutionEvent|SystemPromptEvent)$/;

/** An event of the SDK names its kind. */
export const isSdkEvent = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.kind === 'string' &&
  KIND.test(value.kind) &&
  ('source' in value || 'tool_name' in value || 'llm_message' in value || 'tool_call_id' in value);

/** A run of the SDK: the actions of one reply share its id, and results match by call id. */
export function sdkDraft(events: readonly Fields[], format: string): Draft {
  const dialogue = new Dialogue();
  const gaps: GapNote[] = [];
  const replies = new Map<string, OpenReply>();
  let answer: string | undefined;
  let failure: string | undefined;
  for (const event of events) {
    const kind = label(event.kind) ?? '';
    if (kind === 'MessageEvent') {
      const turns = messageTurns(fields(event.llm_message));
      const isAgents = event.source === 'agent';
      for (const turn of turns)
        if (isAgents && turn.role !== 'tool') dialogue.reply({ ...turn, role: 'assistant' });
        else dialogue.hear(turn);
    } else if (kind === 'ActionEvent') {
      const id = label(event.llm_response_id) ?? `#${replies.size}`;
      const turn = actionTurn(event);
      const open = replies.get(id);
      if (open === undefined)
        replies.set(id, dialogue.reply(turn, { status: 'ok', responseId: id }));
      else extend(open, turn);
      if (label(event.tool_name) === 'finish')
        answer = text(fields(event.action).message) ?? answer;
    } else if (kind === 'ConversationErrorEvent')
      failure = text(event.detail) ?? text(event.code) ?? 'the run failed';
    else if (
      label(event.tool_call_id) !== undefined ||
      /(?:Observation|ErrorEvent|ObservationEvent)$/.test(kind)
    )
      dialogue.hear(resultTurn(event, kind));
    else if (!QUIET.test(kind)) gaps.push({ gap: 'unknownBlock', detail: kind.slice(0, 80) });
  }
  return {
    source: { format, dialects: ['sdk'] },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: AGENT_RECORD,
    gaps,
    ...timeSpan(events.map(({ timestamp }) => time(timestamp))),
    final: answer === undefined ? undefined : { text: answer },
    status: failure === undefined ? undefined : ('error' as const),
    error: failure === undefined ? undefined : { message: failure },
  };
}

function actionTurn(event: Fields): Turn {
  const { parts } = contentOf(event.thought ?? []);
  const asked = fields(event.tool_call);
  const inner = isFields(asked.function) ? asked.function : asked;
  const { kind: _, ...action } = fields(event.action);
  const given = inner.arguments ?? (isFields(event.action) ? action : undefined);
  const call: Call = {
    name: label(event.tool_name) ?? label(inner.name) ?? UNNAMED,
    ...argumentsOf(given),
    id: label(event.tool_call_id) ?? label(asked.id),
  };
  const thought = text(event.reasoning_content);
  return {
    role: 'assistant',
    parts: present([
      thought === undefined || thought === ''
        ? undefined
        : { type: 'reasoning' as const, text: thought },
      ...parts,
    ]),
    calls: [call],
  };
}

function resultTurn(event: Fields, kind: string): Turn {
  const observation = fields(event.observation);
  const said = isFields(event.observation)
    ? pick(observation, 'content', 'output', 'text')
    : undefined;
  const words = contentOf(said ?? [])
    .parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
  const message = text(event.error) ?? text(event.rejection_reason);
  const isError =
    kind === 'AgentErrorEvent' ||
    observation.is_error === true ||
    text(observation.error) !== undefined;
  let status: Step['status'];
  if (kind === 'UserRejectObservation') status = 'denied';
  else if (isError || failedExit(observation)) status = 'error';
  else status = 'ok';
  return {
    ...turnOfText('tool', ''),
    status,
    callId: label(event.tool_call_id),
    name: label(event.tool_name),
    result: resultOf(words === '' ? (message ?? said) : words),
    error:
      status === 'error' ? { message: message ?? text(observation.error) ?? words } : undefined,
  };
}

const failedExit = ({ exit_code, metadata }: Fields): boolean => {
  const code = exit_code ?? fields(metadata).exit_code;
  return typeof code === 'number' && code !== 0 && code !== -1;
};
