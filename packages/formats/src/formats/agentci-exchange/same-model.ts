import type { DraftLlm } from '../../build/draft.ts';

/** The provider and model of a request, because a reply may name its model differently. */
export interface Caller {
  readonly provider: string;
  readonly model?: string;
}

/** Provider names used by instrumentations and the capture. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/bedrock|^aws/, 'bedrock'],
  [/vertex|gemini|google|gcp/, 'google'],
  [/anthropic|claude/, 'anthropic'],
  [/azure|^az\.|openai/, 'openai'],
  [/mistral/, 'mistral'],
  [/cohere/, 'cohere'],
  [/groq/, 'groq'],
  [/deepseek/, 'deepseek'],
  [/^x[._]?ai$/, 'xai'],
  [/ollama/, 'ollama'],
  [/perplexity/, 'perplexity'],
];

/** A server that is known by its address (`@host`) may have models of anyone. */
const familyOf = (provider: string): string | undefined =>
  provider.startsWith('@')
    ? undefined
    : FAMILIES.find(([pattern]) => pattern.test(provider.toLowerCase()))?.[1];

/** Whether a span and an exchange may be one call: neither provider nor model contradicts. */
export function maySame(span: DraftLlm, exchange: DraftLlm, caller: Caller | undefined): boolean {
  const models = [exchange.model, caller?.model].flatMap((model) => model ?? []);
  if (
    span.model !== undefined &&
    models.length > 0 &&
    !models.some((model) => isOneModel(span.model!, model))
  )
    return false;
  const family = span.provider === undefined ? undefined : familyOf(span.provider);
  if (family === undefined) return true;
  // One provider's SDK reaches compatible ones, and gateways forward calls to any.
  const own = [exchange.provider, caller?.provider].flatMap((provider) => provider ?? []);
  const families = own.map(familyOf);
  return own.length === 0 || families.includes(family) || families.includes(undefined);
}

const isOneModel = (a: string, b: string): boolean => bareName(a) === bareName(b);

/** Regions and makers are put before a model's name, dates and versions after it. */
const BEFORE = /^(?:(?:us|eu|apac|jp|au|ca|sa|us-gov|global)\.)?(?:[a-z0-9]+\.(?=[a-z]))?/;
const AFTER =
  /[-@:.](?:latest|preview|exp|experimental|free|v\d{1,3}(?::\d{1,3})?|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}(?:-\d{4})?|\d{3,8})$/;

function bareName(model: string): string {
  let name = model.slice(0, MAX_NAME).toLowerCase().split('/').at(-1)!.replace(BEFORE, '');
  while (AFTER.test(name)) name = name.replace(AFTER, '');
  return name.replace(/[^a-z0-9]+/g, '');
}
const MAX_NAME = 200;
