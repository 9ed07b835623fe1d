// The incident every condition is asked about, and the way to a model.
import { startScriptedModel } from '@agentci/scripted-model';
import OpenAI from 'openai';
import { think } from './scripted-mind.ts';

const MODEL = 'gpt-4o-mini';

/** What is on the operator's screen. */
export const EVIDENCE = `09:00 deployment of auth-service v2.4.0, before it ran v2.3.0
09:15 first 500 Internal Server Error
09:20 error rate at 23 %
09:21 log: database connection pool exhausted, 100 of 100 in use
09:25 incident declared`;

/** One reply of a model, and what it used. */
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

/** Asks the model. `seed` is the protocol's own: with the same one, a model is asked to answer alike. */
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

/** What a runner tells an agent about the run. */
export interface Run {
  readonly run: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const TRIALS_PER_SEED = 1000;

/** A seed of its own for every trial, the same whenever the experiment is made again. */
export const seedOf = ({ run, metadata }: Run): number =>
  Number(metadata.seed ?? 0) * TRIALS_PER_SEED + run;
