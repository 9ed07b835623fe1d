// Faults of a model, one at a time: DEMO_MUTATION=loop. Each changes only the model's output, not
// the checks.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';

type Fault = (request: ScriptedRequest, sound: ScriptedReply) => ScriptedReply;

const asks = ({ messages }: ScriptedRequest, text: RegExp): boolean =>
  messages.some(({ role, text: said }) => role === 'user' && text.test(said));
const calls = ({ messages }: ScriptedRequest): number =>
  messages.filter(({ role }) => role === 'tool').length;

/** Number of calls before a fault starts, and number of repetitions of a loop. */
const AFTER = 2;
const ROUNDS = 4;

export const MUTATIONS = {
  /** Lists the same folder repeatedly. */
  loop: (request, sound) =>
    asks(request, /repository deep/) && calls(request) >= AFTER && calls(request) < AFTER + ROUNDS
      ? { toolCalls: [{ name: 'list_dir', args: { path: 'repos/deep' } }] }
      : sound,
  /** Tries to read outside the repository. */
  'argument-outside': (request, sound) =>
    asks(request, /repository no-ci/) && calls(request) === AFTER
      ? { toolCalls: [{ name: 'read_file', args: { path: 'repos/no-ci/../../package.json' } }] }
      : sound,
} as const satisfies Record<string, Fault>;

type Mutation = keyof typeof MUTATIONS;

export const isMutation = (name: string | undefined): name is Mutation =>
  name !== undefined && Object.hasOwn(MUTATIONS, name);
