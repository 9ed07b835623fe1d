import { spawnSync } from 'node:child_process';

/** The Python of the PATH, and the one that the system's packages are installed for. */
const PYTHONS = ['python3', '/usr/bin/python3'];

/** The clients that the Python agent knows, and their modules. */
const MODULES: Readonly<Record<string, string>> = {
  urllib: 'urllib.request',
  requests: 'requests',
  httpx: 'httpx',
  'httpx-async': 'httpx',
};

export const PYTHON_CLIENTS = Object.keys(MODULES);

/** A Python that has this client; undefined where none of the machine's has. */
export const pythonFor = (client: string): string | undefined =>
  PYTHONS.find((python) => spawnSync(python, ['-c', `import ${MODULES[client]}`], { stdio: 'ignore' }).status === 0);
