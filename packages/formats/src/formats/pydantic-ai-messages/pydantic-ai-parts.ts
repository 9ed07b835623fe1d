import type { Trace, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { contentOf, mayBeCall } from '../../build/blocks.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, Turn } from '../../build/draft.ts';
import { finishOf } from '../../build/finish.ts';
import { turnOfText } from '../../build/messages.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  pick,
  resultOf,
  text,
  time,
} from '../../build/values.ts';

export interface Message {
  readonly kind: 'request' | 'response';
  readonly parts: readonly Fields[];
  /** Facts of a message besides its parts: usage, model, times. */
  readonly about: Fields;
}

const KNOWN = new Set([
  'text',
  'thinking',
  'tool-call',
  'builtin-tool-call',
  'tool-return',
  'builtin-tool-return',
  'retry-prompt',
  'user-prompt',
  'system-prompt',
  'file',
]);

export const isPart = (value: unknown): boolean =>
  isFields(value) && typeof value.part_kind === 'string';

/**
 * A history as a run. Calls of an output tool (`final_result`) are the answer, not tools. A
 * `retry-prompt` for a call means that it failed.
 */
export function pydanticRun(
  messages: readonly Message[],
): Required<Pick<Draft, 'steps' | 'turns'>> & { readonly final: Trace['final'] | undefined } {
  const outputs = outputCalls(messages);
  const dialogue = new Dialogue();
  let final: Trace['final'] | undefined;
  let instructions: string | undefined;
  for (const { kind, parts, about } of messages) {
    if (kind === 'request') {
      const told = text(about.instructions);
      if (told !== undefined && told !== instructions) dialogue.hear(turnOfText('system', told));
      instructions = told ?? instructions;
      for (const part of parts)
        if (!outputs.has(callIdOf(part) ?? '')) dialogue.hear(...requestTurns(part));
      continue;
    }
    const calls = parts.filter(
      (part) => part.part_kind === 'tool-call' || part.part_kind === 'builtin-tool-call',
    );
    const answer = calls.findLast((part) => outputs.has(callIdOf(part) ?? ''));
    final =
      answer === undefined ? undefined : { data: argumentsOf(answer.args).args ?? answer.args };
    const asked = calls.filter((part) => !outputs.has(callIdOf(part) ?? '')).map(callOf);
    const usd = amount(fields(about.usage).cost);
    dialogue.reply(
      {
        role: 'assistant',
        parts: parts.flatMap(replyParts),
        calls: asked.length !== 0 ? asked : undefined,
      },
      {
        model: label(about.model_name),
        provider: label(about.provider_name),
        usage: requestUsage(about.usage),
        cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
        finish: answer === undefined ? finishOf(about.finish_reason) : ('stop' as const),
      },
    );
    for (const part of parts)
      if (part.part_kind === 'builtin-tool-return') dialogue.hear(...requestTurns(part));
  }
  return { steps: dialogue.steps, turns: dialogue.turns, final };
}

const callIdOf = (part: Fields): string | undefined => label(part.tool_call_id);

/** The last answer counts: calls of an output tool whose arguments were refused are answered with a retry. */
function outputCalls(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const { parts } of messages) {
    for (const part of parts) {
      const id = callIdOf(part);
      if (id === undefined) continue;
      const isOutput =
        /^final_result(?:_|$)/.test(label(part.tool_name) ?? '') ||
        part.tool_kind === 'output' ||
        (part.part_kind === 'tool-return' && part.content === 'Final result processed.');
      if (isOutput) ids.add(id);
    }
  }
  return ids;
}

const callOf = (part: Fields): Call => ({
  name: label(part.tool_name) ?? 'unknown',
  ...argumentsOf(part.args ?? {}),
  id: callIdOf(part),
  by: part.part_kind === 'builtin-tool-call' ? ('provider' as const) : undefined,
});

function replyParts(part: Fields): Turn['parts'] {
  const { part_kind: kind } = part;
  // A part of unknown kind may be a call, so it is kept and reported.
  const isUnknown = typeof kind === 'string' && !KNOWN.has(kind);
  if (isUnknown && mayBeCall({ ...part, type: kind }))
    return [{ type: 'json', data: { ...part, type: kind } }];
  const said = text(part.content);
  if (said === undefined || said === '') return [];
  if (kind === 'text') return [{ type: 'text', text: said }];
  return kind === 'thinking' ? [{ type: 'reasoning', text: said }] : [];
}

const OUTCOMES: Readonly<Record<string, Turn['status']>> = {
  success: 'ok',
  failed: 'error',
  denied: 'denied',
  interrupted: 'cancelled',
};

function requestTurns(part: Fields): Turn[] {
  const { part_kind: kind, content } = part;
  const at = time(part.timestamp);
  if (kind === 'system-prompt') return [{ ...turnOfText('system', text(content) ?? ''), at }];
  if (kind === 'user-prompt') return [{ role: 'user', parts: promptParts(content), at }];
  const name = label(part.tool_name);
  if (kind === 'retry-prompt') {
    const message = typeof content === 'string' ? content : JSON.stringify(content ?? '');
    if (name === undefined) return [turnOfText('user', message)];
    return [
      {
        role: 'tool',
        parts: [],
        name,
        status: 'error',
        error: { message },
        result: content,
        at,
        callId: callIdOf(part),
      },
    ];
  }
  if (kind !== 'tool-return' && kind !== 'builtin-tool-return') return [];
  const outcome =
    typeof part.outcome === 'string' && Object.hasOwn(OUTCOMES, part.outcome)
      ? OUTCOMES[part.outcome]
      : 'ok';
  const failed = outcome === 'error' || outcome === 'denied';
  return [
    {
      role: 'tool',
      parts: [],
      // A failed call gets a retry prompt. A returned one did not fail unless it says otherwise.
      status: outcome ?? 'ok',
      result: resultOf(content ?? null),
      error: failed
        ? {
            message: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
          }
        : undefined,
      at,
      name,
      callId: callIdOf(part),
    },
  ];
}

/** Media in a prompt are named by kind: `{kind: "image-url", url}`, `{kind: "binary", media_type}`. */
function promptParts(content: unknown): Turn['parts'] {
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((item): Turn['parts'] => {
    if (!isFields(item) || typeof item.kind !== 'string') return contentOf(item).parts;
    const mime = label(pick(item, 'media_type', '_media_type'));
    const word =
      item.kind === 'binary' ? (mime?.split('/')[0] ?? '') : item.kind.replace(/-url$/, '');
    const modality = word === 'image' || word === 'audio' || word === 'video' ? word : 'document';
    const url = label(item.url);
    const uri = url?.startsWith('data:') === true ? undefined : url;
    return [{ type: 'media', modality, mime, uri }];
  });
}

/** Both spellings of the counts. A count of nothing at all is a model that does not count. */
export function requestUsage(value: unknown): Usage | undefined {
  const counted = fields(value);
  const usage: Usage = {
    input: amount(pick(counted, 'input_tokens', 'request_tokens')),
    output: amount(pick(counted, 'output_tokens', 'response_tokens')),
    cacheRead: amount(counted.cache_read_tokens),
    cacheWrite: amount(counted.cache_write_tokens),
    reasoning: amount(fields(counted.details).reasoning_tokens),
  };
  return (usage.input ?? 0) + (usage.output ?? 0) > 0 ? usage : undefined;
}
