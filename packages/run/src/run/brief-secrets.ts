import { findCredentials, maskMark, type Secret, secretsIn } from '@agentci/lib/secrets';
import type { UserPlan } from '@agentci/spec';

/** Names of secrets from a brief begin so. */
export const BRIEF = 'user.';

/**
 * The secrets in what a user played by a model knows: facts whose names say so, as with environment variables, and texts
 * whose form does. Whoever plays the user has to say them; what is written down has their names in their place.
 */
export function secretsOfBrief({ facts, persona = '', goal }: UserPlan): readonly Secret[] {
  const named = secretsIn(facts);
  const texts: readonly (readonly [string, string])[] = [
    ...Object.entries(facts),
    ['persona', persona],
    ['goal', goal],
  ];
  const formed = texts.flatMap(([name, text]) =>
    findCredentials(text).map(({ start, end }) => ({ name, value: text.slice(start, end) })),
  );
  return [...named, ...formed].map(({ name, value }) => ({
    name: `${BRIEF}${name}`,
    value,
    isUsed: true,
  }));
}

/** What was kept has names in place of secrets; the user says the secrets. */
export const withSecrets = (text: string, secrets: readonly Secret[]): string =>
  secrets.reduce((said, { name, value }) => said.replaceAll(maskMark(name), () => value), text);
