// Replaces a language model: decides from the instructions, the offered tools and the conversation.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';
import { isMutation, MUTATIONS } from './mutations.ts';

/** A previous call in this conversation with its result. */
export interface PastCall {
  readonly name: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** The scripted decisions, without or with one of the faults in `mutations.ts`. */
export function think(mutation?: string): (request: ScriptedRequest) => ScriptedReply {
  const fault = isMutation(mutation) ? MUTATIONS[mutation] : undefined;
  return (request) => {
    const sound = soundReply(request);
    return fault === undefined ? sound : fault(request, sound);
  };
}

export const questionOf = ({ messages }: ScriptedRequest): string =>
  messages.find(({ role }) => role === 'user')?.text ?? '';

/** The calls so far, from the items of the Responses protocol. */
export function pastCalls({ body }: ScriptedRequest): PastCall[] {
  const items = Array.isArray(body.input) ? (body.input as Record<string, unknown>[]) : [];
  const results = new Map(
    items
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id, output }) => [call_id, parse(output)]),
  );
  return items
    .filter(
      ({ type, name }) => type === 'function_call' && !String(name).startsWith('transfer_to_'),
    )
    .map(({ name, call_id }) => ({ name: String(name), result: results.get(call_id) ?? {} }));
}

function parse(output: unknown): Record<string, unknown> {
  const text =
    typeof output === 'string'
      ? output
      : ((output as { text?: string }[] | undefined)?.[0]?.text ?? '');
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { say: text };
  }
}

function soundReply(request: ScriptedRequest): ScriptedReply {
  const transfer = request.tools.some((name) => name.startsWith('transfer_to_'));
  return transfer ? route(request) : serve(request);
}

/**
 * Hands over to the agent whose topic is mentioned first. The last agent has no topics and takes
 * the rest.
 */
function route({ body, ...request }: ScriptedRequest): ScriptedReply {
  const question = questionOf({ body, ...request }).toLowerCase();
  const offers = (body.tools as { name: string; description?: string }[])
    .filter(({ name }) => name.startsWith('transfer_to_'))
    .map(({ name, description = '' }) => {
      const topics = /Topics: ([^.]*)/.exec(description)?.[1]?.toLowerCase().split(', ') ?? [];
      const places = topics.map((topic) => question.indexOf(topic)).filter((place) => place >= 0);
      return { name, place: Math.min(...places) };
    });
  const first = offers.reduce((best, offer) => (offer.place < best.place ? offer : best));
  const name = Number.isFinite(first.place) ? first.name : offers.at(-1)!.name;
  return { toolCalls: [{ name, args: {} }] };
}

interface Intention {
  readonly tool: string;
  readonly when: RegExp;
  readonly args: (question: string) => Record<string, unknown>;
  /** Modifies data, so the customer must be verified first. */
  readonly changes?: true;
}

const customerIn = (question: string): string => /cus_\d+/.exec(question)?.[0] ?? '';
const codeIn = (question: string): string => /code (\d{4})/.exec(question)?.[1] ?? '';
const withCustomer = (question: string) => ({ customer: customerIn(question) });

const INTENTIONS: readonly Intention[] = [
  {
    tool: 'verify_identity',
    when: /verify me/i,
    args: (q) => ({ customer: customerIn(q), code: codeIn(q) }),
  },
  {
    tool: 'lookup_invoice',
    when: /(invoice|charged|refund|price|bill).*cus_/i,
    args: withCustomer,
  },
  { tool: 'check_plan', when: /(plan|upgrade).*cus_/i, args: withCustomer },
  {
    tool: 'issue_refund',
    when: /refund.*inv_/i,
    args: (q) => ({ ...withCustomer(q), invoice: /inv_\d+/.exec(q)?.[0] ?? '', amount: 29 }),
    changes: true,
  },
  { tool: 'cancel_subscription', when: /cancel/i, args: withCustomer, changes: true },
  {
    tool: 'lookup_error_code',
    when: /\bE-[A-Z0-9-]+/,
    args: (q) => ({ code: /\bE-[A-Z0-9-]+/.exec(q)?.[0] ?? '' }),
  },
  { tool: 'check_service_status', when: /crash|down|slow|broken/i, args: () => ({}) },
  {
    tool: 'get_technical_documentation',
    when: /crash|sync (?:stops|broken)/i,
    args: (q) => ({ topic: /crash|sync/i.exec(q)?.[0] ?? '' }),
  },
  {
    tool: 'reset_password',
    when: /forgot|reset|cannot log in/i,
    args: withCustomer,
    changes: true,
  },
  {
    tool: 'update_account',
    when: /(turn on|enable) (2FA|two-factor)/i,
    args: (q) => ({ ...withCustomer(q), field: 'two_factor', value: 'on' }),
    changes: true,
  },
  {
    tool: 'update_account',
    when: /change my e-mail/i,
    args: (q) => ({ ...withCustomer(q), field: 'contact', value: 'on request' }),
    changes: true,
  },
  {
    tool: 'search_knowledge_base',
    when: /feature|dark mode|mobile|difference|offer/i,
    args: (q) => ({ query: q }),
  },
];

/** Fulfills the request with the available tools, one call at a time, and reports the result. */
function serve(request: ScriptedRequest): ScriptedReply {
  const question = questionOf(request);
  const past = pastCalls(request);
  const wanted = INTENTIONS.filter(
    ({ tool, when }) => request.tools.includes(tool) && when.test(question),
  );
  const verifiesFirst = /before you change anything, verify/i.test(request.system);
  for (const { tool, args, changes } of wanted) {
    if (past.some(({ name }) => name === tool)) continue;
    if (changes && verifiesFirst) {
      const check = past.find(({ name }) => name === 'verify_identity');
      if (check === undefined && (customerIn(question) === '' || codeIn(question) === '')) {
        return {
          text: 'I can do that for you. Please give me your customer number and your code first.',
        };
      }
      if (check === undefined) {
        return call('verify_identity', { customer: customerIn(question), code: codeIn(question) });
      }
      if (check.result.verified !== true) break;
    }
    return call(tool, args(question));
  }
  const said = past.map(({ result }) => String(result.say ?? '')).filter((text) => text !== '');
  return { text: said.length > 0 ? said.join(' ') : smallTalk(question) };
}

const call = (name: string, args: Record<string, unknown>): ScriptedReply => ({
  toolCalls: [{ name, args }],
});

function smallTalk(question: string): string {
  if (/thank/i.test(question)) return 'You are welcome! Is there anything else I can help with?';
  if (/hello|good morning/i.test(question)) return 'Hello! How can I help you today?';
  return 'Gladly. Please tell me a little more, and your customer number if it is about your account.';
}
