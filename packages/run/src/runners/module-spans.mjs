// Whether a thread may send spans. It can get their target only from its environment. Until
// something in it has read the variable, it cannot send any, and there is nothing to wait for.
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';

const ADDRESS = /^OTEL_EXPORTER_OTLP(?:_[A-Z]+)?_ENDPOINT$/i;

/**
 * Returns a function that reports whether the variable was read so far. Undefined if the thread has
 * none.
 */
export function watchSpans() {
  const { env } = process;
  if (!Object.keys(env).some((name) => ADDRESS.test(name))) return undefined;
  let mayTell = false;
  const note = (name) => {
    if (!mayTell && typeof name === 'string' && ADDRESS.test(name)) mayTell = true;
  };
  process.env = new Proxy(env, {
    get: (target, name) => {
      note(name);
      return target[name];
    },
    // Explicit, because the engine would define the variable again through this proxy, and an
    // environment rejects partial descriptors.
    set: (target, name, value) => {
      target[name] = value;
      return true;
    },
    getOwnPropertyDescriptor: (target, name) => {
      note(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  syncBuiltinESMExports();
  // Threads of the agent get a copy of the environment, which can be read unnoticed.
  subscribe('worker_threads', () => {
    mayTell = true;
  });
  return () => mayTell;
}
