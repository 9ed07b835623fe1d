import type { Io } from '../cli/io.ts';

/**
 * Variables with the target of each notification kind. Only the environment has them, so that no
 * URL gets into a repository.
 */
export const URLS = { slack: 'AGENTCI_SLACK_WEBHOOK_URL', webhook: 'AGENTCI_WEBHOOK_URL' } as const;
export type Channel = keyof typeof URLS;

const TOKEN = 'AGENTCI_WEBHOOK_TOKEN';

/** Trims the line break at the end of many secret files. */
export const addressOf = (channel: Channel, env: Io['env']): string =>
  (env[URLS[channel]] ?? '').trim();
export const tokenOf = (env: Io['env']): string => (env[TOKEN] ?? '').trim();

/**
 * The reason why a channel cannot be used, judged by the environment. Contains no values of
 * variables.
 */
export function channelProblem(channel: Channel, env: Io['env']): string | undefined {
  const name = URLS[channel];
  const address = addressOf(channel, env);
  if (address === '') return `${name} is not set`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol))
    return `${name} is not an http address`;
  if (url.username !== '' || url.password !== '')
    return `${name} contains a user name or password, which cannot be sent${channel === 'webhook' ? `: use ${TOKEN}` : ''}`;
  // Other characters are not allowed in a header.
  if (channel === 'webhook' && !/^[\x20-\x7e]*$/.test(tokenOf(env)))
    return `${TOKEN} contains a line break, or a character that is not ASCII`;
  return undefined;
}
