// Knows whether anything is under way in this thread that could run code of the agent later.
import { createRequire, syncBuiltinESMExports } from 'node:module';

/** The turns in which what has just ended lets go of its connection. */
const TURNS = 3;
/** What every thread has: the port to whoever started it. */
const OWN = 'MessagePort';

/**
 * Watches for timers and threads that Node does not count as under way. What comes back says whether the thread is quiet; where
 * there was ever one of those, it cannot know, and says no. Without a capture no one asks, and nothing is watched.
 */
export function watchQuiet() {
  if (process.env.AGENTCI_PRELOAD === undefined) return async () => false;
  const nextTurn = setImmediate;
  let isHidden = false;
  const hide = () => {
    isHidden = true;
  };
  watchTimers(hide);
  process.on('worker', hide);
  return async () => {
    for (let turn = 0; turn < TURNS && !isHidden; turn++) {
      await new Promise((done) => nextTurn(done));
      const open = process.getActiveResourcesInfo();
      if (open.length === 1 && open[0] === OWN) return !isHidden;
    }
    return false;
  };
}

function watchTimers(onHidden) {
  const timer = setTimeout(() => {}, 0);
  clearTimeout(timer);
  const prototype = Object.getPrototypeOf(timer);
  const { unref } = prototype;
  // Looking at who asks takes time, and Node does so for every request, mostly with the same function.
  const ofNode = new WeakSet();
  prototype.unref = function asked() {
    const { _onTimeout: run } = this;
    if (!ofNode.has(run)) {
      if (!isAskedByNode(asked)) onHidden();
      else if (typeof run === 'function') ofNode.add(run);
    }
    return unref.call(this);
  };
  const promises = createRequire(import.meta.url)('node:timers/promises');
  // The argument at this place says whether the timer counts.
  const watch = (owner, name, at) => {
    const original = owner[name];
    owner[name] = function (...args) {
      if (args[at]?.ref === false) onHidden();
      return original.apply(this, args);
    };
  };
  watch(promises, 'setTimeout', 2);
  watch(promises, 'setInterval', 2);
  watch(promises.scheduler, 'wait', 1);
  syncBuiltinESMExports();
}

/** Node has such timers for connections that are kept open; they run nothing of the agent's. */
function isAskedByNode(asked) {
  const { stackTraceLimit } = Error;
  const asker = {};
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(asker, asked);
  Error.stackTraceLimit = stackTraceLimit;
  return asker.stack.includes('node:');
}
