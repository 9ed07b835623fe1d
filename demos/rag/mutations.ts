// Faults of a model, one at a time: DEMO_MUTATION=extra-tool. Each changes only the model's output,
// not the checks.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';

type Fault = (request: ScriptedRequest, sound: ScriptedReply) => ScriptedReply;

const asks = ({ messages }: ScriptedRequest, text: RegExp): boolean =>
  messages.some(({ role, text: said }) => role === 'user' && text.test(said));
const searches = ({ messages }: ScriptedRequest): number =>
  messages.filter(({ role }) => role === 'tool').length;
const isAnswer = (reply: ScriptedReply): reply is ScriptedReply & { text: string } =>
  'text' in reply && reply.text !== undefined;

const TRIPLE = 3;
const SLOW_MS = 4500;

/** The scripted model counts four characters per token. This triples the number. */
function tripled(
  { system, messages }: ScriptedRequest,
  sound: ScriptedReply,
): { input: number; output: number } {
  const tokens = (text: string): number => Math.ceil(text.length / 4);
  const asked = [system, ...messages.map(({ text }) => text)].join('');
  return {
    input: TRIPLE * tokens(asked),
    output: TRIPLE * Math.max(1, tokens(isAnswer(sound) ? sound.text : '')),
  };
}

export const MUTATIONS = {
  /** Searches the web as well before an answer on installation. */
  'extra-tool': (request, sound) =>
    asks(request, /^How do I install AgentCI\?$/) && searches(request) === 1
      ? { toolCalls: [{ name: 'web_search', args: { query: 'install AgentCI' } }] }
      : sound,
  /** Uses three times the tokens for one question. */
  'tripled-cost': (request, sound) =>
    asks(request, /save a baseline/i) && !('status' in sound)
      ? { ...sound, usage: tripled(request, sound) }
      : sound,
  /** Finds the answer and refuses to give it. */
  'refused-in-scope': (request, sound) =>
    asks(request, /CLI commands/i) && isAnswer(sound)
      ? { text: 'I am sorry, I cannot help with that.' }
      : sound,
  /** Answers from memory. */
  'hallucinated-aws': (request, sound) =>
    asks(request, /load balancer/i) && isAnswer(sound)
      ? {
          text: 'Create an ALB, add a target group with your instances, then attach a listener on port 443.',
        }
      : sound,
  /** Waits for seconds on one question. */
  'slower-path': (request, sound) =>
    asks(request, /API keys/i) && isAnswer(sound) ? { ...sound, delayMs: SLOW_MS } : sound,
} as const satisfies Record<string, Fault>;

export type Mutation = keyof typeof MUTATIONS;

export const isMutation = (name: string | undefined): name is Mutation =>
  name !== undefined && Object.hasOwn(MUTATIONS, name);
