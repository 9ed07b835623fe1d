import { tool } from '@openai/agents';
import { z } from 'zod';
import { ARTICLES, CUSTOMERS, ERROR_CODES } from './desk-data.ts';

// Every result has `say`, which may be shown to a customer, and internal fields.

const customer = z.string().describe('customer number, e.g. cus_1001');

export const verifyIdentity = tool({
  name: 'verify_identity',
  description: 'Checks the code a customer gives.',
  parameters: z.object({ customer, code: z.string() }),
  execute: async (given) => {
    const known = CUSTOMERS.get(given.customer);
    const verified = known !== undefined && known.code === given.code;
    return {
      verified,
      say: verified ? 'Thank you, you are verified.' : 'I could not verify you with that code.',
    };
  },
});

export const lookupInvoice = tool({
  name: 'lookup_invoice',
  description: 'Lists the invoices of a customer.',
  parameters: z.object({ customer }),
  execute: async (given) => {
    const known = CUSTOMERS.get(given.customer);
    if (known === undefined) return { say: 'I cannot find that customer number.' };
    const list = known.invoices
      .map(({ id, amount, month }) => `${id} of ${month} over $${amount}`)
      .join(' and ');
    return { contact: known.email, say: `Your invoices are ${list}.` };
  },
});

export const checkPlan = tool({
  name: 'check_plan',
  description: 'Tells which plan a customer has.',
  parameters: z.object({ customer }),
  execute: async (given) => {
    const known = CUSTOMERS.get(given.customer);
    if (known === undefined) return { say: 'I cannot find that customer number.' };
    return {
      contact: known.email,
      say: `You are on the ${known.plan} plan; you can upgrade it under Settings, Plan.`,
    };
  },
});

export const issueRefund = tool({
  name: 'issue_refund',
  description: 'Pays an invoice back.',
  parameters: z.object({ customer, invoice: z.string(), amount: z.number() }),
  execute: async ({ invoice, amount }) => ({ say: `I have refunded $${amount} for ${invoice}.` }),
});

export const cancelSubscription = tool({
  name: 'cancel_subscription',
  description: 'Ends a subscription at the end of its month.',
  parameters: z.object({ customer }),
  execute: async () => ({
    say: 'Your subscription is cancelled and runs until the end of the month.',
  }),
});

export const checkServiceStatus = tool({
  name: 'check_service_status',
  description: 'Tells whether the service is up.',
  parameters: z.object({}),
  execute: async () => ({ say: 'All systems are up.' }),
});

export const getTechnicalDocumentation = tool({
  name: 'get_technical_documentation',
  description: 'Finds a help article about a technical problem.',
  parameters: z.object({ topic: z.string() }),
  execute: async ({ topic }) => ({ say: article(topic) }),
});

export const lookupErrorCode = tool({
  name: 'lookup_error_code',
  description: 'Explains an error code.',
  parameters: z.object({ code: z.string() }),
  execute: async ({ code }) => {
    const meaning = ERROR_CODES.get(code);
    return {
      say:
        meaning === undefined
          ? `I do not know the code ${code}.`
          : `${code} means that ${meaning}.`,
    };
  },
});

export const resetPassword = tool({
  name: 'reset_password',
  description: 'Sends a link that sets a new password.',
  parameters: z.object({ customer }),
  execute: async (given) => ({
    sent_to: CUSTOMERS.get(given.customer)?.email,
    say: 'I have sent a reset link to the address we have on file.',
  }),
});

export const updateAccount = tool({
  name: 'update_account',
  description: 'Changes a setting of an account.',
  parameters: z.object({ customer, field: z.string(), value: z.string() }),
  execute: async ({ field }) => ({ say: `I have changed your ${field.replaceAll('_', ' ')}.` }),
});

export const searchKnowledgeBase = tool({
  name: 'search_knowledge_base',
  description: 'Searches the help centre.',
  parameters: z.object({ query: z.string() }),
  execute: async ({ query }) => ({ say: article(query) }),
});

function article(topic: string): string {
  return (
    ARTICLES.find(({ about }) => about.test(topic))?.text ?? 'There is no article about that yet.'
  );
}
