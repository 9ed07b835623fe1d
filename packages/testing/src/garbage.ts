import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage again and again until it is disposed of: what nothing holds on to is gone at once. */
export function collectGarbage(): Disposable {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const timer = setInterval(collect, 20);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
