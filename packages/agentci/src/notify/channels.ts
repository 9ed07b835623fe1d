import type { Io } from '../cli/io.ts';

/** Where each kind of notification goes; only the environment says it, so that no address gets into a repository. */
export const URLS = { slack: 'AGENTCI_SLACK_WEBHOOK_URL', webhook: 'AGENTCI_WEBHOOK_URL' } as const;
export type Channel = keyof typeof URLS;

const TOKEN = 'AGENTCI_WEBHOOK_TOKEN';

/** Without the line break that a file of a secret often ends with. */
export const addressOf = (channel: Channel, env: Io['env']): string =>
  (env[URLS[channel]] ?? '').trim();
export const tokenOf = (env: Io['env']): string => (env[TOKEN] ?? '').trim();

/** Why nothing can be sent to a channel, as far as the environment tells. No value of a variable is part of it. */
export function channelProblem(channel: Channel, env: Io['env']): string | undefined {
  const name = URLS[channel];
  const address = addressOf(channel, env);
  if (address === '') return `${name} is not set`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol))
    return `${name} is not an http address`;
  if (url.username !== '' || url.password !== '')
    return `${name} contains a user name or password, which cannot be sent${channel === 'webhook' ? `: use ${TOKEN}` : ''}`;
  // Anything else cannot be part of a header.
  if (channel === 'webhook' && !/^[\x20-\x7e]*$/.test(tokenOf(env)))
    return `${TOKEN} contains a line break, or a character that is not ASCII`;
  return undefined;
}
