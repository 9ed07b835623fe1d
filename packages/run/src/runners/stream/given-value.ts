import type { AnswerRule } from '../answer.ts';
import { type Received, responseOutput } from '../http-response.ts';
import { AgentError, type RunOutput, refuseNoAnswer } from '../runner.ts';
import { type StreamedValue, streamedOutput } from './streamed-value.ts';

/**
 * The return value of a function in one of three forms, after streams and responses were read to
 * their end.
 */
export interface GivenValue {
  readonly value?: unknown;
  readonly stream?: StreamedValue;
  readonly response?: Received;
  readonly ttftMs?: number;
}

/** The answer or recording in a return value. Throws an `AgentError` if there is none. */
export function givenOutput(
  { value, stream, response, ttftMs }: GivenValue,
  rule: AnswerRule & { readonly stderr?: string | undefined },
): Omit<RunOutput, 'wallMs'> {
  try {
    if (response !== undefined) return responseOutput(response, rule);
    if (stream !== undefined) return streamedOutput(stream, rule);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw new AgentError(error.kind, error.message, { ...error, stderr: rule.stderr });
  }
  refuseNoAnswer(value, rule);
  return { value, ttftMs };
}
