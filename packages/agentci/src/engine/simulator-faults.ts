import type { UserPlan } from '../spec/suite.ts';

/** What a model that plays the user said, and what it could know. */
export interface Played {
  readonly plan: UserPlan;
  /** The first message, which the spec gives. */
  readonly start: string;
  readonly message: string;
  /** What the user said before. */
  readonly before: readonly string[];
  /** What the agent said. */
  readonly answers: readonly string[];
  readonly uses: readonly string[];
}

/** Phrases of someone who serves, which a customer does not say. */
const SERVES =
  /\bas an ai\b|\bhow (?:can|may) i (?:help|assist) you\b|\banything else i can (?:help|assist|do for you)|\bi(?:'m| am) (?:your|an?) (?:ai |virtual |support |customer service )*(?:assistant|agent)\b|\bi(?:'ve| have) (?:processed|issued|refunded|cancelled|canceled|updated|booked) (?:your|the)\b|\byour (?:refund|order|booking) has been (?:processed|issued|cancelled|canceled)\b/i;
/** Numbers, ids and dates: what cannot be made up without misleading the agent. */
const CONCRETE = /[\p{L}\p{N}][\p{L}\p{N}._/#:-]*/gu;
const MIN_ECHO = 20;
const LOOP = 3;

/** What a model did that a user would not, in words; undefined where nothing is wrong. No model is asked. */
export function simulatorFault(played: Played): string | undefined {
  const { message, plan, before, uses } = played;
  if (SERVES.test(message)) return `it answers as the agent: ${quote(message)}`;
  const unknown = uses.find((key) => !Object.hasOwn(plan.facts, key));
  if (unknown !== undefined) return `it uses a fact that the brief does not have: "${unknown}"`;
  const invented = inventedFact(played);
  if (invented !== undefined) return `it states "${invented}", which the brief does not say: ${quote(message)}`;
  const echoed = [plan.persona, plan.goal].find(
    (text) => text !== undefined && plain(text).length >= MIN_ECHO && plain(message).includes(plain(text)),
  );
  if (echoed !== undefined) return `it repeats its brief: ${quote(message)}`;
  const last = before.slice(1 - LOOP).map(plain);
  if (last.length === LOOP - 1 && last.every((each) => each === plain(message)))
    return `it said the same ${LOOP} times: ${quote(message)}`;
  return undefined;
}

function inventedFact({ plan, start, message, before, answers }: Played): string | undefined {
  const known = [plan.persona ?? '', plan.goal, start, ...Object.values(plan.facts), ...before, ...answers];
  const words = new Set(known.flatMap(concreteWords));
  return concreteWords(message).find((word) => !words.has(word) && !words.has(withoutLabel(word)));
}

/** Small counts are words of everyday speech: "2 items" is not an id. */
const concreteWords = (text: string): string[] =>
  [...text.replace(/(\d),(?=\d{3}\b)/g, '$1').matchAll(CONCRETE)]
    .map(([word]) => word.toLowerCase().replace(/[._/#:-]+$/, ''))
    .filter((word) => /\d/.test(word) && !/^\d$/.test(word));

/** `order-42` and `order#42` are the order 42. */
const withoutLabel = (word: string): string => word.replace(/^\p{L}+[._/#:-]+/u, '');

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();
const MAX_QUOTED = 100;
const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
