import type { InputGuardrail, OutputGuardrail } from '@openai/agents';

/** The guardrails' replies to the customer after a stopped run. */
export const REPLIES: Readonly<Record<string, string>> = {
  off_topic: 'I am sorry, I can only help with our product, its bills and your account.',
  card_number:
    'Please never send card numbers here. I have not passed yours on; what can I do for you without it?',
  injection:
    'I am sorry, I cannot do that. I can help with our product, its bills and your account.',
  card_in_answer: 'I am sorry, I cannot give that out here.',
};

const CARD = /\b(?:\d[ -]?){13,19}\b/;
const OFF_TOPIC = /\b(joke|poem|recipe|weather|meaning of life|football|horoscope)\b/i;
const INJECTION = /ignore (?:all |your |previous )+instructions|system prompt|list all customers/i;

/** The Luhn check digit of card numbers. Long order numbers rarely match it. */
function isCardNumber(text: string): boolean {
  const digits = (CARD.exec(text)?.[0] ?? '').replace(/\D/g, '');
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const doubled = Number(digit) * (i % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length >= 13 && sum % 10 === 0;
}

const textOf = (input: unknown): string =>
  typeof input === 'string' ? input : JSON.stringify(input);

// Blocking guardrails: a forbidden query must not reach the model, and then costs nothing.
const inputGuardrail = (name: string, trips: (text: string) => boolean): InputGuardrail => ({
  name,
  runInParallel: false,
  execute: async ({ input }) => ({ tripwireTriggered: trips(textOf(input)), outputInfo: { name } }),
});

export const inputGuardrails: InputGuardrail[] = [
  inputGuardrail('card_number', isCardNumber),
  inputGuardrail('injection', (text) => INJECTION.test(text)),
  inputGuardrail('off_topic', (text) => OFF_TOPIC.test(text)),
];

export const outputGuardrails: OutputGuardrail[] = [
  {
    name: 'card_in_answer',
    execute: async ({ agentOutput }) => ({
      tripwireTriggered: isCardNumber(textOf(agentOutput)),
      outputInfo: { name: 'card_in_answer' },
    }),
  },
];
