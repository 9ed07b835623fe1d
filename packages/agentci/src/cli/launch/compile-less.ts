import { createRequire } from 'node:module';

/** Commands that run or judge whole suites: a few seconds in which the same functions are called thousands of times. */
const JUDGING = new Set(['test', 'eval', 'merge', 'record', 'mutate', 'worker']);

/** In bytes of bytecode; V8's own limit is 920. */
const MAX_INLINED = 200;

/**
 * Limits how much V8 inlines when it optimises. By default its helper threads spend about as much CPU time on optimising as the
 * run itself takes; the run ends before that pays off, and on two cores the threads compete with it. Only for these commands:
 * loading `node:v8` would cost the others more than they gain.
 */
export function compileLess(command: string | undefined): void {
  if (!JUDGING.has(command ?? '')) return;
  const v8 = createRequire(__filename)('node:v8') as typeof import('node:v8');
  v8.setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${MAX_INLINED}`);
}
