import { relative, resolve, sep } from 'node:path';
import { readTraces } from '@agentci/formats';
import { UserError } from '@agentci/lib/problems';
import { type ToolStep, type Trace, toolCalls } from '@agentci/trace';
import type { Io } from '../cli/io.ts';
import type { PolicyOptions } from './load-policy.ts';

export async function* tracesOf(
  options: PolicyOptions,
  io: Io,
  { uncaptured = 'refuse' }: { uncaptured?: 'refuse' | 'show' } = {},
): AsyncGenerator<{ readonly trace: Trace; readonly calls: readonly ToolStep[] }> {
  if (options.traces === undefined)
    throw new UserError('TRACES_MISSING', 'recordings are needed: --traces PATH', {
      hint: 'a file or a folder of recordings',
    });
  const format = options.traceFormat === undefined ? {} : { format: options.traceFormat };
  let count = 0;
  for await (const trace of readTraces(resolve(io.cwd, options.traces), {
    ...format,
    signal: io.signal,
  })) {
    count++;
    if (trace.captured.toolCalls === 'none' && uncaptured === 'refuse')
      throw new UserError(
        'TRACE_NO_CALLS',
        `the tool calls of ${shownId(trace, io)} were not captured`,
      );
    yield { trace: { ...trace, id: shownId(trace, io) }, calls: toolCalls(trace) };
  }
  if (count === 0) throw new UserError('TRACES_MISSING', `no traces found in "${options.traces}"`);
}

/** Shows ids derived from file paths relative to the working directory. */
function shownId({ id }: Trace, io: Io): string {
  return id.startsWith(`${io.cwd}${sep}`) ? relative(io.cwd, id) : id;
}
