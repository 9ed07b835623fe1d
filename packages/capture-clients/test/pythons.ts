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

const found = new Map<string, string | undefined>();

/** A Python that has this client; undefined where none of the machine's has. Asked once, and without what may stand before it. */
export function pythonFor(client: string): string | undefined {
  if (!found.has(client))
    found.set(client, PYTHONS.map((python) => programOf(python, MODULES[client]!)).find(Boolean));
  return found.get(client);
}

/** Where a Python is that can import this. */
function programOf(python: string, module: string): string | undefined {
  const { status, stdout } = spawnSync(
    python,
    ['-c', `import sys, ${module}; print(sys.executable)`],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? stdout.trim() : undefined;
}
