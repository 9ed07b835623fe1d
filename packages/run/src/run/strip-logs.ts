import { plural } from '@agentci/lib/text';
import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';

/** Beginnings of log lines: a time, a level, or a name in brackets before one. */
const LOG =
  /^\s*(?:\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\d{2}:\d{2}:\d{2}\b|\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|TRACE)\]?(?::|\s|$)|\[[\w.:-]{1,60}\]\s+\[?(?:DEBUG|INFO|WARN|WARNING|ERROR)\b)/i;

/**
 * Removes log lines of a framework from the output of an agent if the capture knows the last reply.
 * If the output is that reply and log lines, the reply is the answer.
 */
export function stripLogs(given: Trace, seen: Trace | undefined): Trace {
  const printed = finalText(given);
  const reply = seen === undefined ? undefined : finalText(seen)?.trim();
  if (printed === undefined || reply === undefined || reply === '') return given;
  const at = printed.lastIndexOf(reply);
  if (at < 0 || printed.trim() === reply) return given;
  const noise = `${printed.slice(0, at)}\n${printed.slice(at + reply.length)}`
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (!noise.every((line) => LOG.test(line))) return given;
  const message = `${plural(noise.length, 'line')} printed next to the model's last reply, ignored: ${JSON.stringify(noise[0]!.trim().slice(0, 80))}`;
  return {
    ...given,
    final: { ...given.final, text: reply },
    warnings: [...given.warnings, { code: 'OUTPUT_NOISE', message }],
  };
}
