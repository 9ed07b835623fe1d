import { findCredentials, maskMark, type Secret, secretsIn } from '@agentci/lib/secrets';
import type { UserPlan } from '@agentci/spec';

/** Prefix for the names of secrets from a brief. */
export const BRIEF = 'user.';

/**
 * The secrets in the brief of a simulated user: facts with secret names, as with environment
 * variables, and texts with the form of a secret. The simulated user has to say them. Stored text
 * has their names instead.
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

/** Replaces the names of secrets in stored text by the secrets, for the user to say. */
export const withSecrets = (text: string, secrets: readonly Secret[]): string =>
  secrets.reduce((said, { name, value }) => said.replaceAll(maskMark(name), () => value), text);
