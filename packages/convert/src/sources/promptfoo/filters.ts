import type { Prompt } from './prompts.ts';
import type { Kept } from './providers.ts';
import type { Test } from './tests.ts';

/**
 * A name in a filter: the name itself, a prefix followed by `*`, or the members of a group
 * (`group:one`).
 */
const refers = (reference: string, name: string): boolean =>
  name === reference ||
  name.startsWith(`${reference}:`) ||
  (reference.endsWith('*') && name.startsWith(reference.slice(0, -1)));

/** Without a list everything is allowed. An empty list allows nothing. */
const isAllowed = (filter: unknown, names: readonly string[]): boolean =>
  !Array.isArray(filter) ||
  filter.some(
    (reference) => typeof reference === 'string' && names.some((name) => refers(reference, name)),
  );

export type Filtered = { readonly isAsked: boolean; readonly skip?: string };

/** Whether a test uses a prompt, by the filters of the test and of the providers. */
export function filtered(
  { prompts, providers, provider }: Test,
  prompt: Prompt,
  kept: readonly Kept[],
): Filtered {
  if (!isAllowed(prompts, prompt.names ?? [prompt.label])) return { isAsked: false };
  if (provider !== undefined && !(kept.length === 1 && kept[0]!.names.includes(String(provider))))
    return {
      isAsked: true,
      skip: 'the test has a separate provider, but a spec has one runner',
    };
  if (kept.length === 0)
    return Array.isArray(providers) && providers.length === 0
      ? { isAsked: false }
      : { isAsked: true };
  const asked = kept.filter(
    (one) =>
      isAllowed(providers, one.names) && isAllowed(one.prompts, prompt.names ?? [prompt.label]),
  );
  if (asked.length === 0) return { isAsked: false };
  return asked.length === kept.length
    ? { isAsked: true }
    : {
        isAsked: true,
        skip: 'the filter selects only some providers, but a spec runs every query on all of its models',
      };
}
