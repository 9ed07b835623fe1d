import { type ChildProcess, spawn } from 'node:child_process';
import { MARK } from '@agentci/lib/process';

/**
 * Reads which groups begin and end. Its input ends when we do, however that came about: then those that are left get a
 * moment to end well. A process that made a group of its own is found by the mark in its environment, where /proc shows it.
 * That is done twice, since a process that changes programs shows no environment for a moment.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% "$group" *} \${groups#* "$group" }" ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -TERM "-$group"; done
sleep 1
for group in $groups; do kill -KILL "-$group"; done
for round in 1 2; do
  for file in $(grep -l "${MARK}=$1-" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
  sleep 0.2
done
`;

/**
 * Ends the agents of a program that was killed with no chance to do it itself (`kill -9`, the system short of memory): they would
 * keep asking models that someone pays for. A shell, since it has to outlive us and should cost next to nothing.
 */
export class Undertaker {
  #shell: ChildProcess | undefined;

  begin(group: number): void {
    this.#shell ??= startShell();
    this.#tell(`+ ${group}`);
  }

  end(group: number): void {
    this.#tell(`- ${group}`);
  }

  #tell(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(`${line}\n`);
  }
}

/** In a session of its own, so that whatever ends our group leaves it. Where there is no shell, no one does this work. */
function startShell(): ChildProcess {
  // The script is not among the arguments: lists of processes show those.
  const shell = spawn(
    '/bin/sh',
    ['-c', 'eval "$SCRIPT"', 'agentci-undertaker', String(process.pid)],
    {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', SCRIPT },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  (shell.stdin as { unref?: () => void } | null)?.unref?.();
  return shell;
}
