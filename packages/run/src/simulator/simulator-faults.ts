import { foldText } from '@agentci/lib/text';
import type { UserPlan } from '@agentci/spec';
import { servesSomeone } from './role-swap.ts';
import { unknownFact } from './stated-facts.ts';

/** The messages of a simulated user, and the facts available to it. */
export interface Played {
  readonly plan: UserPlan;
  /** The first message, from the spec. */
  readonly start: string;
  readonly message: string;
  /** Earlier messages of the user. */
  readonly before: readonly string[];
  /** Answers of the agent. */
  readonly answers: readonly string[];
  readonly uses: readonly string[];
}

/**
 * Describes a mistake of the model that a user would not make. Undefined if there is none. Does not
 * ask a model.
 */
export function simulatorFault(played: Played): string | undefined {
  const { message, plan, before, answers, uses } = played;
  const quoted = quote(message);
  if (servesSomeone(message, plan.persona)) return `it answers as the agent: ${quoted}`;
  const unknown = uses.find((key) => !isOfBrief(key, plan));
  if (unknown !== undefined) return `it uses a fact that the brief does not have: "${unknown}"`;
  const invented = inventedFact(played);
  if (invented !== undefined)
    return `it states "${invented}", which the brief does not say: ${quoted}`;
  if (repeatsBrief(message, plan)) return `it repeats its brief: ${quoted}`;
  if (answers.some((answer) => isQuestionOf(answer, message)))
    return `it repeats what the agent said: ${quoted}`;
  return loopOf(message, before, answers);
}

/** Names that a model may use besides the facts. */
const BLOCKS: ReadonlySet<string> = new Set([
  '',
  'none',
  'persona',
  'goal',
  'facts',
  'conversation',
  'manner',
]);

/**
 * Whether a fact name is in the brief: in another spelling (`Order number` for `order`), or by its
 * value.
 */
function isOfBrief(name: string, { facts }: UserPlan): boolean {
  if (Object.hasOwn(facts, name)) return true;
  const named = plain(name);
  if (BLOCKS.has(named)) return true;
  const words = new Set(named.split(' '));
  return Object.entries(facts).some(([key, value]) => {
    const own = plain(key);
    return (
      own.split(' ').every((word) => words.has(word)) ||
      named === plain(String(value)) ||
      ` ${own} `.includes(` ${named} `)
    );
  });
}

function inventedFact({ plan, start, message, before, answers }: Played): string | undefined {
  const facts = Object.entries(plan.facts).map(([key, value]) => `${key}: ${value}`);
  return unknownFact(message, [
    plan.persona ?? '',
    plan.goal,
    start,
    ...facts,
    ...before,
    ...answers,
  ]);
}

/** A user may repeat a short goal. From this length on it is a quotation. */
const MIN_WORDS = 5;
const MIN_ECHO = 20;

function repeatsBrief(message: string, { persona = '', goal }: UserPlan): boolean {
  const said = ` ${plain(message)} `;
  const isIn = (text: string, words: number): boolean =>
    text.length >= MIN_ECHO && text.split(' ').length >= words && said.includes(` ${text} `);
  const sentences = persona.split(/(?<=[.!?;])\s+|\n/).map(plain);
  if ([plain(persona), ...sentences].some((text) => isIn(text, 3))) return true;
  return (
    isIn(plain(goal), MIN_WORDS) ||
    (plain(goal).split(' ').length > 2 && said.trim() === plain(goal))
  );
}

const ASKS = /^(?:which|what|how|who|whose|when|where|why)\b/;

/** Whether a message repeats the agent's answer, or a question in it. */
function isQuestionOf(answer: string, message: string): boolean {
  const said = plain(message);
  const words = said.split(' ').length;
  if (words < 3 && !(words === 2 && ASKS.test(said))) return false;
  const questions = answer
    .split(/(?<=[.!?])\s+|\n/)
    .filter((sentence) => sentence.trimEnd().endsWith('?'));
  return [answer, ...questions].some((text) => plain(text) === said);
}

const LOOP = 3;
/** Replies that may be right for several questions. */
const SHORT =
  /^(?:yes|no|yeah|yep|nope|ok|okay|sure|correct|right|that s right|that is right|thanks|thank you|please)(?: (?:please|thanks|thank you|sir|correct|that s right))?$/;

/**
 * The same message three times, consecutive or not, or two alternating messages. Differences in
 * case and punctuation are ignored.
 */
function loopOf(
  message: string,
  before: readonly string[],
  answers: readonly string[],
): string | undefined {
  const own = [...before, message].map((text) => plain(text) || text.trim());
  const last = own.at(-1)!;
  const places = own.flatMap((each, i) => (each === last ? [i] : [])).slice(-LOOP);
  // The agent's answers before each of them.
  const asked = places.map((i) => plain(answers.at(i - own.length) ?? `#${i}`));
  const isAsked = SHORT.test(last) && new Set(asked).size === LOOP;
  if (places.length === LOOP && !isAsked)
    return `it said the same ${LOOP} times: ${quote(message)}`;
  const pairs = own.slice(-2 * LOOP);
  const alternates =
    pairs.length === 2 * LOOP &&
    pairs.every((each, i) => each === pairs[i % 2]) &&
    pairs[0] !== last;
  return alternates ? `it said the same two things ${LOOP} times: ${quote(message)}` : undefined;
}

/** The words of a text without case, punctuation and spacing. */
const plain = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
const MAX_QUOTED = 100;
const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
