import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf } from '../../build/blocks.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, Turn } from '../../build/draft.ts';
import { timeSpan } from '../../build/time-span.ts';
import { usageOf } from '../../build/token-usage.ts';
import {
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  resultOf,
  text,
  time,
} from '../../build/values.ts';

/** AutoGen messages name their class and author; results of the core have no author. */
export const isAutogenMessage = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  ((/^[A-Z]\w*(?:Message|Event)$/.test(value.type) && typeof value.source === 'string') ||
    (value.type === 'FunctionExecutionResultMessage' && Array.isArray(value.content)));

const IS_USER = /^user(?:_?proxy)?$/i;

/**
 * The messages of a team as steps. An agent's message is a model reply, which all others hear. The
 * summary of tool results repeats them and is not a reply, although it can be the final text.
 */
export function autogenSteps(
  messages: readonly Fields[],
): Pick<Draft, 'steps' | 'turns' | 'final' | 'startedAt' | 'endedAt'> {
  const dialogue = new Dialogue();
  const agents = [...new Set(messages.flatMap(({ source }) => (isAgent(source) ? [source] : [])))];
  let thoughts: Turn['parts'] = [];
  let summary: string | undefined;
  for (const message of messages) {
    const source = label(message.source);
    const usage = countsOf(message.models_usage);
    const agent = isAgent(source) ? source : undefined;
    const at = time(pick(message, 'created_at', 'timestamp'));
    const when = at === undefined ? {} : { t0: at, timing: 'estimated' as const };
    const reply = (turn: Omit<Turn, 'role'>): void => {
      dialogue.reply(
        { role: 'assistant', ...turn, parts: [...thoughts, ...turn.parts] },
        { ...when, agent, usage },
      );
      thoughts = [];
    };
    const parts = (): Turn['parts'] => contentOf(message.content).parts;
    summary = undefined;
    switch (message.type) {
      case 'ToolCallRequestEvent':
        reply({ parts: [], calls: callsIn(message.content) });
        break;
      case 'ToolCallExecutionEvent':
      case 'FunctionExecutionResultMessage':
        dialogue.hear(...resultsIn(message.content, at));
        break;
      case 'ToolCallSummaryMessage':
        summary = text(message.content);
        break;
      case 'ThoughtEvent':
        thoughts = [...thoughts, { type: 'reasoning', text: text(message.content) ?? '' }];
        break;
      case 'HandoffMessage':
        dialogue.add({
          kind: 'handoff',
          to: label(message.target) ?? 'unknown',
          mode: 'pass',
          status: 'ok',
          from: source,
          reason: label(message.content),
          t0: at,
        });
        break;
      case 'MemoryQueryEvent':
        dialogue.add({
          kind: 'retrieval',
          documents: documentsIn(message.content),
          agent,
          t0: at,
        });
        break;
      case 'SystemMessage':
        dialogue.hear({ role: 'system', parts: parts(), at });
        break;
      case 'AssistantMessage':
      case 'TextMessage':
      case 'MultiModalMessage':
      case 'StructuredMessage':
      case 'StopMessage':
      case 'UserMessage': {
        if (agent === undefined || message.type === 'UserMessage') {
          dialogue.hear({ role: 'user', parts: parts(), at });
          break;
        }
        const calls = callsIn(message.content);
        const thought = text(message.thought);
        if (thought !== undefined && thought !== '')
          thoughts = [...thoughts, { type: 'reasoning', text: thought }];
        reply(calls.length > 0 ? { parts: [], calls } : { parts: parts() });
        const others = agents.filter((other) => other !== agent);
        if (calls.length === 0 && others.length > 0)
          dialogue.add({
            kind: 'message',
            from: agent,
            to: others,
            content: [...parts()],
            status: 'ok',
            t0: at,
          });
        break;
      }
      default:
        break;
    }
  }
  return {
    steps: dialogue.steps,
    turns: dialogue.turns,
    final: summary === undefined ? undefined : { text: summary },
    ...timeSpan(messages.map((message) => time(pick(message, 'created_at', 'timestamp')))),
  };
}

const isAgent = (source: unknown): source is string =>
  typeof source === 'string' && source !== '' && !IS_USER.test(source);

const callsIn = (content: unknown): Call[] =>
  objects(content).flatMap((call): Call[] => {
    const name = label(call.name);
    if (name === undefined || !('arguments' in call)) return [];
    return [{ name, ...argumentsOf(call.arguments), id: label(call.id) }];
  });

const resultsIn = (content: unknown, at: number | undefined): Turn[] =>
  objects(content).map((result): Turn => {
    const failed = result.is_error === true;
    let status: 'error' | 'ok' | undefined;
    if (failed) status = 'error' as const;
    else if (result.is_error === false) status = 'ok' as const;
    return {
      role: 'tool',
      parts: [],
      at,
      status,
      callId: label(result.call_id),
      name: label(result.name),
      result: resultOf(result.content),
      error: failed ? { message: text(result.content) ?? '' } : undefined,
    };
  });

const documentsIn = (content: unknown) =>
  objects(content).map((item) => ({
    text: text(item.content),
    meta: isFields(item.metadata) ? item.metadata : undefined,
  }));

/** Clients that do not count write 0 and 0. */
function countsOf(value: unknown): Usage | undefined {
  const { prompt_tokens: sent, completion_tokens: said } = fields(value);
  return sent === 0 && said === 0 ? undefined : usageOf(value);
}
