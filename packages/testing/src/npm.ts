/**
 * The environment of a program that may use a registry. It has the certificates that
 * vitest.config.ts removes for all others.
 */
export function npmEnv(): NodeJS.ProcessEnv {
  const { AGENTCI_TEST_CERTIFICATES: certificates, ...env } = process.env;
  return certificates === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: certificates };
}
