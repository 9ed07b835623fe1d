// Installs AgentCI where the project has not done so itself.
import { spawnSync } from 'node:child_process';
import { findAgentci, folder, folderProblem } from './project.mjs';

const problem = folderProblem();
if (problem !== undefined) {
  // The step that runs says it, so that the verdict is 2 and not a step that broke.
  console.log(problem);
} else if (findAgentci() === undefined) {
  const name = `@agentci/agentci@${process.env.AGENTCI_VERSION || 'latest'}`;
  const { status } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', name], {
    cwd: folder,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
