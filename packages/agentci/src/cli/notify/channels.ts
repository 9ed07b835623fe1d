/** Where each kind of notification goes; only the environment says it, so that no address gets into a repository. */
export const URLS = { slack: 'AGENTCI_SLACK_WEBHOOK_URL', webhook: 'AGENTCI_WEBHOOK_URL' } as const;
export type Channel = keyof typeof URLS;
