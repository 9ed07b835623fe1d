import type { TraceProblem } from '@agentci/formats';
import { readTraceItems } from '@agentci/formats';
import type { Trace } from '@agentci/trace';

/** Reads bytes, a text, or a serialized value like every command reads a file. */
export async function readAll(
  input: unknown,
): Promise<{ traces: Trace[]; problems: TraceProblem[] }> {
  const bytes =
    input instanceof Uint8Array
      ? input
      : Buffer.from(typeof input === 'string' ? input : JSON.stringify(input));
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  for await (const item of readTraceItems(bytes))
    if (item.ok) traces.push(item.trace);
    else problems.push(item.problem);
  return { traces, problems };
}

/** The single trace of an input. Otherwise the test fails. */
export async function readOne(input: unknown): Promise<Trace> {
  const { traces, problems } = await readAll(input);
  if (traces.length !== 1 || problems.length > 0)
    throw new Error(`${traces.length} traces, problems: ${JSON.stringify(problems)}`);
  return traces[0]!;
}
