import { type Fields, isFields } from '@agentci/trace';
import { fields } from '../../build/values.ts';

const SECOND =
  /^(?:message-(?:start|end)|content-(?:start|delta|end)|tool-plan-delta|tool-call-(?:start|delta|end)|citation-(?:start|end)|debug)$/;
const FIRST =
  /^(?:stream-(?:start|end)|text-generation|tool-calls-(?:generation|chunk)|citation-generation|search-queries-generation|search-results|debug)$/;

/** An event of a stream: typed in version 2, `{event_type, is_finished}` in version 1. */
export const isEvent = (value: unknown): boolean =>
  isFields(value) &&
  (typeof value.event_type === 'string'
    ? FIRST.test(value.event_type)
    : typeof value.type === 'string' &&
      SECOND.test(value.type) &&
      ('delta' in value || 'index' in value || 'id' in value));

export const isStart = (value: unknown): boolean =>
  fields(value).type === 'message-start' || fields(value).event_type === 'stream-start';

interface Joined {
  readonly reply: Fields;
  readonly isDamaged: boolean;
}

/** Joins a streamed reply to the shape of a whole one. */
export function joined(events: readonly unknown[]): Joined {
  const isFirst = events.some((event) => typeof fields(event).event_type === 'string');
  return isFirst ? firstVersion(events) : secondVersion(events);
}

function secondVersion(events: readonly unknown[]): Joined {
  const texts = new Map<unknown, string>();
  const calls = new Map<unknown, { call: Fields; json: string }>();
  let plan = '';
  let end: Fields = {};
  let id: unknown;
  let isDamaged = false;
  for (const given of events) {
    const { type, index, delta, id: named } = fields(given);
    const message = fields(fields(delta).message);
    if (type === 'message-start') id = named;
    else if (type === 'message-end') end = fields(delta);
    else if (type === 'tool-plan-delta')
      plan += typeof message.tool_plan === 'string' ? message.tool_plan : '';
    else if (type === 'content-start' || type === 'content-delta') {
      const said = fields(message.content).text;
      texts.set(index, (texts.get(index) ?? '') + (typeof said === 'string' ? said : ''));
    } else if (type === 'tool-call-start') {
      const call = fields(message.tool_calls);
      const written = fields(call.function).arguments;
      calls.set(index, { call, json: typeof written === 'string' ? written : '' });
    } else if (type === 'tool-call-delta') {
      const more = fields(fields(message.tool_calls).function).arguments;
      const open = calls.get(index) ?? { call: {}, json: '' };
      calls.set(index, { ...open, json: open.json + (typeof more === 'string' ? more : '') });
    } else if (!isEvent(given)) isDamaged = true;
  }
  const tool_calls = [...calls.values()].map(({ call, json }) => ({
    ...call,
    function: { ...fields(call.function), arguments: json },
  }));
  const content = [...texts.values()].map((said) => ({ type: 'text', text: said }));
  return { reply: { id, ...end, message: { content, tool_plan: plan, tool_calls } }, isDamaged };
}

/** Version 1 ends with the whole reply. */
function firstVersion(events: readonly unknown[]): Joined {
  const all = events.filter(isFields);
  const end = all.findLast(({ event_type }) => event_type === 'stream-end');
  const said = all
    .map(({ event_type, text }) =>
      event_type === 'text-generation' && typeof text === 'string' ? text : '',
    )
    .join('');
  const asked = all.findLast(({ event_type }) => event_type === 'tool-calls-generation');
  const whole = fields(end?.response);
  return {
    reply: {
      text: said,
      tool_calls: asked?.tool_calls,
      ...whole,
      finish_reason: end?.finish_reason ?? whole.finish_reason,
    },
    isDamaged: !all.every(isEvent),
  };
}
