// The agents and their handoffs.
import { Agent } from '@openai/agents';
import { inputGuardrails, outputGuardrails } from './guardrails.ts';
import * as tools from './tools.ts';

const MODEL = 'gpt-4o-mini';
const MANNERS =
  'Answer with what the tools say and nothing else. Never repeat e-mail addresses or card numbers.';
const VERIFY =
  'Before you change anything, verify the customer with verify_identity; without a code, ask for it.';

const specialist = (
  name: string,
  topics: string,
  instructions: string,
  own: ConstructorParameters<typeof Agent>[0]['tools'],
) =>
  new Agent({
    name,
    model: MODEL,
    handoffDescription: `Topics: ${topics}.`,
    instructions: `You are ${name}. ${instructions} ${MANNERS}`,
    tools: own ?? [],
    outputGuardrails,
  });

const billing = specialist(
  'BillingAgent',
  'invoice, charged, refund, price, payment, upgrade, plan, bill, subscription',
  VERIFY,
  [
    tools.verifyIdentity,
    tools.lookupInvoice,
    tools.checkPlan,
    tools.issueRefund,
    tools.cancelSubscription,
  ],
);
const technical = specialist(
  'TechnicalAgent',
  'crash, sync, error, down, slow, bug, service',
  'Look the problem up before you answer.',
  [tools.checkServiceStatus, tools.getTechnicalDocumentation, tools.lookupErrorCode],
);
const account = specialist(
  'AccountAgent',
  'password, log in, 2FA, two-factor, e-mail, account, verify',
  VERIFY,
  [tools.verifyIdentity, tools.resetPassword, tools.updateAccount],
);
const general = specialist(
  'GeneralAgent',
  'hello, thanks, feature, dark mode, mobile, difference, offer',
  'Use the help centre.',
  [tools.searchKnowledgeBase],
);

export const specialists = [billing, technical, account, general];

export const triage = new Agent({
  name: 'Triage',
  model: MODEL,
  instructions:
    'You are Triage. Hand over to the agent whose topics the customer names first. Do not answer yourself.',
  handoffs: specialists,
  inputGuardrails,
});
