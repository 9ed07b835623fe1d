// Faults of a model, one at a time: DEMO_MUTATION=wrong-route. Each changes only the model's
// output, not the checks.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';

type Fault = (request: ScriptedRequest, sound: ScriptedReply) => ScriptedReply;

const asks = ({ messages }: ScriptedRequest, text: RegExp): boolean =>
  messages.some(({ role, text: said }) => role === 'user' && text.test(said));
const callOf = (reply: ScriptedReply): string | undefined =>
  'toolCalls' in reply ? reply.toolCalls?.[0]?.name : undefined;

export const MUTATIONS = {
  /** Sends a question about features to billing. */
  'wrong-route': (request, sound) =>
    asks(request, /^What features/) && callOf(sound) === 'transfer_to_GeneralAgent'
      ? { toolCalls: [{ name: 'transfer_to_BillingAgent', args: {} }] }
      : sound,
  /** Reveals the address that the tool returned for internal use only. */
  'leaked-email': (request, sound) =>
    asks(request, /Which plan am I on/) && 'text' in sound && sound.text
      ? { text: `${sound.text} We have ada@example.com on file.` }
      : sound,
  /** Resets a password without verifying the customer. */
  'missing-verification': (request, sound) =>
    asks(request, /forgot my password \(cus_1001/) && callOf(sound) === 'verify_identity'
      ? { toolCalls: [{ name: 'reset_password', args: { customer: 'cus_1001' } }] }
      : sound,
} as const satisfies Record<string, Fault>;

type Mutation = keyof typeof MUTATIONS;

export const isMutation = (name: string | undefined): name is Mutation =>
  name !== undefined && Object.hasOwn(MUTATIONS, name);
