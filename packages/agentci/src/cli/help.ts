import { COMMANDS } from './commands/index.gen.ts';

/** Help on one screen, built from the generated index, so no command module is loaded. */
export function helpText(version: string): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const commands = Object.entries(COMMANDS).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`,
  );
  return `agentci ${version}: does the agent still do its job, the right way, at the right price?
Usage: agentci <command> [options]; every command has help: agentci test --help
Commands:
${commands.join('\n')}

Start here:
  agentci init                                   write a spec, a starter agent and a CI job
  agentci validate agentci_spec.yaml             check the spec and list every error with its line
  agentci test --traces traces.jsonl             judge recordings: no key, no agent, no network
  agentci test                                   run the agent named in the spec and judge it

Exit codes: 0 nothing failed (warnings allowed) · 1 a check failed · 2 could not tell · 130 interrupted
`;
}
