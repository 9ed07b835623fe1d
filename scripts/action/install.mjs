// Installs AgentCI if the project does not.
import { spawnSync } from 'node:child_process';
import { findAgentci, folder, folderProblem } from './project.mjs';

const problem = folderProblem();
if (problem !== undefined) {
  // The main step reports it, so that the verdict is 2 instead of a failed step.
  console.log(problem);
} else if (findAgentci() === undefined) {
  const name = `@agentci/agentci@${process.env.AGENTCI_VERSION || 'latest'}`;
  const { status } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', name], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
