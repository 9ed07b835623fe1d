/** The environment of a program that may ask a registry: with the certificates that vitest.config.ts keeps from all others. */
export function npmEnv(): NodeJS.ProcessEnv {
  const { AGENTCI_TEST_CERTIFICATES: certificates, ...env } = process.env;
  return certificates === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: certificates };
}
