// Runs a user's module in a worker thread, one query at a time. Plain JavaScript, because a worker
// is started from a file, and the same file serves the sources and the build.
//
// A worker thread, because a module may print to stdout (which would corrupt a JSON report), call
// process.exit, or loop forever, and a thread can be ended from outside. It may be started in
// advance, and loads no user code until it gets the name of the module.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { markCalls } from './module-calls.mjs';
import { watchSpans } from './module-spans.mjs';
import { consume } from './module-stream.mjs';

const aborts = new Map();
/** The call that a piece of code runs for, even after the call has answered. */
const calls = new AsyncLocalStorage();
const requestsOf = markCalls(() => calls.getStore());
const sendsSpans = watchSpans();
/** Saved here, because the module may replace them. */
const nextTurn = setImmediate;
/** The agent's state between the turns of one conversation. */
let state = {};
/** Start time of the call, without starting the thread and loading the module. */
let began = performance.now();

/** The function of the module, or the reason for its absence. */
let loading;

function startLoading(message) {
  loading = load(message).then(
    (agent) => ({ agent }),
    (error) => ({ error }),
  );
  loading.then(() => parentPort.postMessage({ isLoaded: true }));
}

async function load({ file, exportName }) {
  const url = pathToFileURL(file).href;
  let module;
  if (/\.[cm]?tsx?$/.test(file)) {
    const { createJiti } = await import('jiti');
    module = await createJiti(url, { interopDefault: false }).import(file);
  } else {
    module = await import(url);
  }
  const agent =
    exportName === 'default' ? (module.default?.default ?? module.default) : module[exportName];
  if (typeof agent !== 'function') {
    const names = Object.keys(module).join(', ') || 'nothing';
    const what = agent === undefined ? `the module exports ${names}` : `it is ${describe(agent)}`;
    throw `export "${exportName}" is not a function (${what})`;
  }
  if (/^class\b/.test(Function.prototype.toString.call(agent)))
    throw `export "${exportName}" is a class; export a function that takes the query`;
  return agent;
}

for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, async (error) => {
    // A module with its own handler has handled it.
    if (process.listenerCount(event) > 1) return;
    const call = calls.getStore();
    if (call !== undefined && !aborts.has(call)) {
      parentPort.postMessage({ call, late: true, error: facts(error) });
      return;
    }
    await printed();
    parentPort.postMessage({ call, crashed: true, error: facts(error) });
    process.exit(1);
  });
}

parentPort.on('message', async (message) => {
  if (message.type === 'abort') {
    aborts.get(message.call)?.abort(new Error('timed out'));
    return;
  }
  if (message.type === 'load') {
    startLoading(message);
    return;
  }
  if (message.type === 'forget') {
    state = {};
    return;
  }
  const { call, query, context, args, hasState } = message;
  const loaded = await loading;
  if (loaded.error) return reply({ call, ok: false, loading: true, error: facts(loaded.error) });
  const controller = new AbortController();
  aborts.set(call, controller);
  began = performance.now();
  try {
    const started = performance.now();
    const busyBefore = args ? busy() : undefined;
    const given = await calls.run(call, async () => {
      const value = await (args
        ? loaded.agent(...args)
        : loaded.agent(query, {
            ...context,
            ...(hasState && { state }),
            signal: controller.signal,
          }));
      return args ? { value } : consume(value, started);
    });
    // A check that did not await a promise has not given its verdict, so a failure in it must
    // count.
    if (args) await settled(busyBefore);
    await printed();
    reply({ call, ok: true, ...given, ...(await begun(call)) });
  } catch (error) {
    await printed();
    reply({ call, ok: false, loading: false, error: facts(error) });
  } finally {
    aborts.delete(call);
  }
});

/**
 * Time for background tasks of a function to fail. Later failures are reported separately from the
 * verdict.
 */
const SETTLE_MS = 250;

/**
 * Waits until pending activity is back to its level before the call. An endless timer or a kept
 * connection is waited for once.
 */
async function settled(busyBefore) {
  for (let n = 0; n < 2; n++) await new Promise((done) => setImmediate(done));
  const until = performance.now() + SETTLE_MS;
  while (performance.now() < until && hasMore(busyBefore))
    await new Promise((done) => setTimeout(done, 2));
}

/** Number of pending timers, sockets and so on. */
function busy() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

const hasMore = (before) => [...busy()].some(([kind, count]) => count > (before.get(kind) ?? 0));

/**
 * The number of requests to models the call has started, and whether spans may come. Unawaited
 * tasks get a turn to start.
 */
async function begun(call) {
  if (requestsOf === undefined) return {};
  for (let turn = 0; turn < 2; turn++) await new Promise((done) => nextTurn(done));
  return { begun: { asked: requestsOf(call), sendsSpans: sendsSpans?.() } };
}

/**
 * Waits until the printed output has arrived. After the reply it would be counted with the next
 * query.
 */
async function printed() {
  const busy = [process.stdout, process.stderr].filter(
    (stream) => stream.writable && stream.writableLength > 0,
  );
  // Not the stream's own `write`, which the module may have replaced.
  await Promise.all(
    busy.map((stream) => new Promise((done) => Writable.prototype.write.call(stream, '', done))),
  );
}

function reply(message) {
  try {
    parentPort.postMessage({ ...message, ranMs: performance.now() - began });
  } catch (error) {
    parentPort.postMessage({
      call: message.call,
      ok: false,
      loading: false,
      returned: true,
      error: { message: `a value that cannot be copied: ${error.message}` },
    });
  }
}

function describe(value) {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * The stack frames in the user's code. Frames of Node and of this file do not help to find an error
 * in it.
 */
function ownStack(stack) {
  const lines = String(stack).split('\n');
  const isFrame = (line) => /^\s+at /.test(line);
  const own = lines.filter(
    (line) => !isFrame(line) || !(line.includes('node:') || line.includes(import.meta.url)),
  );
  return own.some(isFrame) ? own.join('\n') : undefined;
}

function facts(error) {
  if (!(error instanceof Error)) {
    const text = typeof error === 'string' ? error : inspect(error);
    return { message: text.slice(0, 500) };
  }
  const code = error.code ?? error.cause?.code;
  const status = error.status ?? error.statusCode;
  const retryAfter = error.headers?.get?.('retry-after') ?? error.headers?.['retry-after'];
  return {
    name: error.name,
    message:
      error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message,
    code: typeof code === 'string' ? code : undefined,
    status: typeof status === 'number' ? status : undefined,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    stack: ownStack(error.stack),
  };
}
