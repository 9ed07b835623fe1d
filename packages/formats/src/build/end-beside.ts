import { hasValues } from '@agentci/lib/data';
import { type Fields, isFields } from '@agentci/trace';
import { type Draft, endOf } from './draft.ts';
import { fields, label, pick } from './values.ts';

/** Names under which programs keep the conversation of a whole run. */
const CONVERSATIONS = [
  'messages',
  'all_messages',
  'message_history',
  'history',
  'contents',
  'conversation',
  'transcript',
  'trajectory',
  'turns',
];

const FAILED = /^(?:failed|failure|error|errored|run_error|run_failed|crashed|exception)$/i;
const CUT_OFF =
  /^(?:cancell?ed|aborted|interrupted|timeout|timed_out|incomplete|run_cancell?ed|max_turns|max_steps)$/i;

/** How a run ended, if the object around its messages reports a failure. */
export function endBeside(value: unknown): Pick<Draft, 'status' | 'error'> | undefined {
  if (!isFields(value) || !CONVERSATIONS.some((key) => Array.isArray(value[key]))) return undefined;
  const { error } = value;
  const words = endWords(value);
  if (isSaid(error)) return endOf({ message: messageOf(error) }, false);
  const failed = words.find((word) => FAILED.test(word));
  if (failed !== undefined || value.is_error === true)
    return endOf({ message: failed ?? 'is_error' }, false);
  return words.some((word) => CUT_OFF.test(word)) ? endOf(undefined, true) : undefined;
}

/** Words about the end of a run: a status, or an event type. */
const endWords = (value: Fields): string[] =>
  ['status', 'state', 'run_status', 'terminal_event', 'terminalEvent'].flatMap((key) => {
    const said = value[key];
    return label(isFields(said) ? pick(said, 'type', 'status', 'name') : said) ?? [];
  });

const isSaid = (error: unknown): boolean =>
  typeof error === 'string' ? error.trim() !== '' : error === true || hasValues(fields(error));

const messageOf = (error: unknown): string =>
  typeof error === 'string'
    ? error
    : (label(pick(fields(error), 'message', 'detail', 'type', 'code')) ?? 'error');
