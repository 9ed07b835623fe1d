// Replaces a language model: reads the system prompt and the conversation, and follows the prompt.
// It contains no query of the spec. If a prompt or document changes, its behavior changes like a
// model's would.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';
import { terms } from './bm25.ts';
import { isMutation, MUTATIONS, type Mutation } from './mutations.ts';

const TOPICS =
  /agentci|baseline|trace|judge|\bspec\b|install|framework|langsmith|deepeval|crewai|autogen|api key|python|\bcli\b|command|github actions|optional dependenc/i;
const GREETING = /^(hi|hello|hey|good (morning|evening))\b/i;
const NOTHING_FOUND = 'no matching passage';
const DECLINE =
  'I can only help with questions about AgentCI; this one is outside its documentation.';
const COULD_NOT_FIND =
  'I could not find that in the documentation; it is outside what I can help with.';

/** Knowledge from training that the model should not use here. */
const MEMORY: readonly { readonly about: RegExp; readonly text: string }[] = [
  {
    about: /load balancer/i,
    text: 'Create an ALB in the EC2 console, add a target group with your instances, then attach a listener on port 443.',
  },
];

const NUMBERS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  five: 5,
  ten: 10,
  eleven: 11,
};

/** The behavior requested by the prompt. */
interface Habits {
  readonly qualifiesFirst: boolean;
  readonly maxSearches: number;
  readonly usesMemory: boolean;
}

function habitsOf(system: string): Habits {
  const limit = /after (\w+) searches/i.exec(system)?.[1]?.toLowerCase() ?? '';
  return {
    qualifiesFirst: /first decide whether the question is about/i.test(system),
    maxSearches: Object.hasOwn(NUMBERS, limit) ? NUMBERS[limit]! : 1,
    usesMemory: /from general knowledge/i.test(system),
  };
}

/** The scripted decisions, without or with one of the faults in `mutations.ts`. */
export function think(mutation?: string): (request: ScriptedRequest) => ScriptedReply {
  const fault = isMutation(mutation) ? MUTATIONS[mutation] : undefined;
  return (request) => {
    const sound = soundReply(request);
    return fault === undefined ? sound : fault(request, sound);
  };
}

export type { Mutation };

function soundReply({ system, messages }: ScriptedRequest): ScriptedReply {
  const question = messages.find(({ role }) => role === 'user')?.text ?? '';
  const results = messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
  if (GREETING.test(question.trim()))
    return { text: 'Hello! What would you like to know about AgentCI?' };
  const habits = habitsOf(system);
  let next = 0;
  const answers: string[] = [];
  for (const part of partsOf(question)) {
    const isOurs = TOPICS.test(part);
    if (habits.qualifiesFirst && !isOurs) {
      answers.push(DECLINE);
      continue;
    }
    let found: string | undefined;
    for (let attempt = 0; attempt < habits.maxSearches && found === undefined; attempt++) {
      const result = results[next++];
      if (result === undefined) return search(wording(part, attempt));
      if (result !== NOTHING_FOUND && isAbout(result, part)) found = result;
    }
    answers.push(found === undefined ? withoutSource(part, habits) : excerpt(found, part));
  }
  return { text: [...new Set(answers)].join(' ') };
}

const search = (query: string): ScriptedReply => ({
  toolCalls: [{ name: 'retriever_tool', args: { query } }],
});

/** Two questions in one sentence need two searches. */
function partsOf(question: string): string[] {
  return question
    .split(/\?\s*|,? and (?=how|what|who|which|where)/i)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function wording(part: string, attempt: number): string {
  const words = terms(part);
  const wordings = [
    words.join(' '),
    [...words].reverse().join(' '),
    ...words,
    ...words.map((word) => `${word} guide`),
    ...words.map((word) => `${word} documentation`),
    ...words.map((word) => `how to ${word}`),
    ...words.map((word) => `${word} example`),
  ];
  return wordings[attempt % wordings.length] ?? part;
}

function withoutSource(part: string, { usesMemory }: Habits): string {
  const known = usesMemory ? MEMORY.find(({ about }) => about.test(part)) : undefined;
  return known?.text ?? COULD_NOT_FIND;
}

/** Share of the question's words that occur in a text. */
function overlap(text: string, part: string): number {
  const wanted = new Set(terms(part));
  const had = new Set(terms(text).filter((term) => wanted.has(term)));
  return had.size / Math.max(1, wanted.size);
}

/** A search for one word also finds unrelated passages. A model that reads them notices. */
const isAbout = (found: string, part: string): boolean => overlap(found, part) > 1 / 3;

/** The best passage, quoted from the documents. */
const excerpt = (found: string, part: string): string =>
  found
    .split('\n\n')
    .reduce((best, next) => (overlap(next, part) > overlap(best, part) ? next : best));
