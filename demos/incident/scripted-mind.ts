// Stands in for a language model: by its role it reads what it is sent. Chance comes from the seed of the request alone.
import type { ScriptedReply, ScriptedRequest } from '@agentci/scripted-model';

const WORDS_PER_MS = 2;

export function think(request: ScriptedRequest): ScriptedReply {
  const said = request.messages.at(-1)?.text ?? '';
  const text = speak(request.system, said, chanceOf(Number(request.body.seed ?? 0)));
  // Longer answers take longer, so that times differ as they do with a model, only faster.
  return { text, delayMs: Math.ceil(text.split(/\s+/).length / WORDS_PER_MS) };
}

/** A number from 0 to 1 for a seed; neighbours are far apart. */
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

/** The first draft is now and then careless; what the reviewer objects to is put right. */
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

/** One agent with everything to do at once says what comes to mind first. */
function guess(said: string, chance: number): string {
  const { service, good, cause } = factsIn(said);
  if (chance < 0.35) return list(['Investigate recent changes', 'Review system metrics']);
  if (chance < 0.7) return list(['Rollback the recent deployment', 'Check the logs']);
  if (chance < 0.9) return list([`Rollback ${service} to ${good}`, 'Check system metrics']);
  return list([`Rollback ${service} to ${good}`, `Check the ${cause}`]);
}

const list = (actions: readonly string[]): string =>
  actions.map((action, i) => `${i + 1}. ${action}`).join('\n');
