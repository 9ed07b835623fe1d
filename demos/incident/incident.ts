// The incident for all conditions, and the connection to a model.
import { startScriptedModel } from '@agentci/scripted-model';
import OpenAI from 'openai';
import { think } from './scripted-mind.ts';

const MODEL = 'gpt-4o-mini';

/** The text on the operator's screen. */
export const EVIDENCE = `09:00 deployment of auth-service v2.4.0, before it ran v2.3.0
09:15 first 500 Internal Server Error
09:20 error rate at 23 %
09:21 log: database connection pool exhausted, 100 of 100 in use
09:25 incident declared`;

/** A model's reply with its usage. */
export interface Reply {
  readonly text: string;
  readonly call: {
    readonly model: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
  };
}

const scripted =
  process.env.DEMO_LIVE === '1' ? undefined : await startScriptedModel({ script: think });
const client = new OpenAI(
  scripted === undefined ? {} : { apiKey: 'scripted', baseURL: scripted.url },
);

/**
 * Calls the model. `seed` is the protocol's parameter: it makes the model's answer reproducible.
 */
export async function complete(system: string, user: string, seed: number): Promise<Reply> {
  const { choices, usage } = await client.chat.completions.create({
    model: MODEL,
    seed,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
  });
  if (usage === undefined) throw new Error('the model did not say what it used');
  return {
    text: choices[0]?.message.content ?? '',
    call: {
      model: MODEL,
      input_tokens: usage.prompt_tokens,
      output_tokens: usage.completion_tokens,
    },
  };
}

/** Run data that a runner passes to an agent. */
export interface Run {
  readonly run: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const TRIALS_PER_SEED = 1000;

/** A separate seed per trial, the same in every repetition of the experiment. */
export const seedOf = ({ run, metadata }: Run): number =>
  Number(metadata.seed ?? 0) * TRIALS_PER_SEED + run;
