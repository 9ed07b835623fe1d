// Replaces a language model: acts by its role on the received text. Randomness comes only from the
// request's seed.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';

const WORDS_PER_MS = 2;

export function think(request: ScriptedRequest): ScriptedReply {
  const said = request.messages.at(-1)?.text ?? '';
  const text = speak(request.system, said, chanceOf(Number(request.body.seed ?? 0)));
  // Longer answers take longer, so times vary as with a model, but faster.
  return { text, delayMs: Math.ceil(text.split(/\s+/).length / WORDS_PER_MS) };
}

/** Maps a seed to a number from 0 to 1. Adjacent seeds give distant numbers. */
const chanceOf = (seed: number): number => Math.abs(Math.sin(seed * 12.9898) * 43758.5453) % 1;

function speak(system: string, said: string, chance: number): string {
  if (/You are Diagnosis/.test(system)) return diagnose(said);
  if (/You are Risk/.test(system)) return review(said);
  if (/You are Planner/.test(system)) return plan(said, chance);
  return guess(said, chance);
}

interface Facts {
  readonly service: string;
  readonly bad: string;
  readonly good: string;
  readonly cause: string;
}

function factsIn(text: string): Facts {
  const [, service = 'the service', bad = '', good = ''] =
    /(?:deployment of )?(\S+-service) (v[\d.]+\d), before it ran (v[\d.]+\d)/.exec(text) ?? [];
  const cause = /database connection pool/i.exec(text)?.[0] ?? 'an unknown cause';
  return { service, bad, good, cause };
}

function diagnose(said: string): string {
  const { service, bad, good, cause } = factsIn(said);
  return `${service} ${bad}, before it ran ${good}; the cause is the ${cause}.`;
}

/** The first draft is sometimes careless. The reviewer's objections are fixed. */
function plan(said: string, chance: number): string {
  const { service, good, cause } = factsIn(said);
  const isCareless = !said.includes('Objection:') && chance < 0.4;
  return list([
    isCareless ? `Rollback ${service}` : `Rollback ${service} deployment to ${good}`,
    isCareless ? 'Raise the connection pool to 300%' : `Verify ${cause} settings of ${service}`,
    ...(chance > 0.7 ? [`Watch the error rate of ${service} ${good}`] : []),
  ]);
}

function review(said: string): string {
  const drafted = said.slice(said.indexOf('Plan:'));
  const impossible = /\d{3,}%/.exec(drafted)?.[0];
  if (impossible !== undefined) return `Objection: ${impossible} of a pool cannot be had.`;
  return /v\d/.test(drafted) ? 'no objection' : 'Objection: no version is named.';
}

/** A single agent with all tasks answers with its first idea. */
function guess(said: string, chance: number): string {
  const { service, good, cause } = factsIn(said);
  if (chance < 0.35) return list(['Investigate recent changes', 'Review system metrics']);
  if (chance < 0.7) return list(['Rollback the recent deployment', 'Check the logs']);
  if (chance < 0.9) return list([`Rollback ${service} to ${good}`, 'Check system metrics']);
  return list([`Rollback ${service} to ${good}`, `Check the ${cause}`]);
}

const list = (actions: readonly string[]): string =>
  actions.map((action, i) => `${i + 1}. ${action}`).join('\n');
