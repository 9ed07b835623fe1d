import { type ChildProcess, spawn } from 'node:child_process';
import { MARK } from '@agentci/lib/process';

/**
 * Reads the process groups that begin and end. Its input closes when this process ends for any
 * reason, and then the remaining groups get a moment to end. If /proc is available, processes in
 * other groups are found by the mark in their environment. The search runs twice, because a process
 * shows no environment for a moment during exec.
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
 * Ends the agents of a program that was killed without cleanup (`kill -9`, out of memory). They
 * would keep calling paid models. Uses a shell, which outlives this process and costs next to
 * nothing.
 */
export class ProcessReaper {
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

/**
 * In a separate session, so that a signal to our group does not reach it. Without a shell nothing
 * cleans up.
 */
function startShell(): ChildProcess {
  // The script is not in the arguments, because process lists show them.
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
