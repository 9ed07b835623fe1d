import { spawnSync } from 'node:child_process';

/** The Python on the PATH, and the one with the system's packages. */
const PYTHONS = ['python3', '/usr/bin/python3'];

/** The clients supported by the Python agent, and their modules. */
const MODULES: Readonly<Record<string, string>> = {
  urllib: 'urllib.request',
  requests: 'requests',
  httpx: 'httpx',
  'httpx-async': 'httpx',
};

export const PYTHON_CLIENTS = Object.keys(MODULES);

const found = new Map<string, string | undefined>();

/**
 * A Python with this client. Undefined if this machine has none. Cached, and bypasses wrappers on
 * the PATH.
 */
export function pythonFor(client: string): string | undefined {
  if (!found.has(client))
    found.set(client, PYTHONS.map((python) => programOf(python, MODULES[client]!)).find(Boolean));
  return found.get(client);
}

/** Path of a Python that can import the module. */
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
