// Whether a thread may send spans. It can learn where they go only from its environment: until something in it has looked the
// address up, it cannot send any, and there is nothing to wait for.
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';

const ADDRESS = /^OTEL_EXPORTER_OTLP(?:_[A-Z]+)?_ENDPOINT$/i;

/** What comes back tells whether the address was looked up so far; undefined where the thread has none. */
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
    // Not left to the engine, which would define the variable anew through this: an environment takes that only in full.
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
  // A thread of the agent's own gets a copy of the environment, which can be read unseen.
  subscribe('worker_threads', () => {
    mayTell = true;
  });
  return () => mayTell;
}
