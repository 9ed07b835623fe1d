// A part of register.cjs, in the user's programs.
'use strict';

/**
 * Adds the file to threads and programs with a custom environment, which would otherwise lose it.
 */
module.exports = (option, alike) => {
  const { AGENTCI_PRELOAD } = process.env;
  const filled = (env) => {
    const given = { ...env };
    if (!String(given.NODE_OPTIONS).includes(option))
      given.NODE_OPTIONS = [given.NODE_OPTIONS, option].filter(Boolean).join(' ');
    given.AGENTCI_PRELOAD ??= AGENTCI_PRELOAD;
    return given;
  };
  const withEnv = (given) =>
    given !== null &&
    typeof given === 'object' &&
    given.env !== null &&
    typeof given.env === 'object'
      ? { ...given, env: filled(given.env) }
      : given;
  const isOptions = (each) => each !== null && typeof each === 'object' && !Array.isArray(each);
  /** Without a custom environment a program inherits this one, which may have changed. */
  const withOptions = (args) => {
    const given = args.find(isOptions);
    const filledIn = { ...given, env: filled(given?.env ?? process.env) };
    return given === undefined
      ? [...args.filter((each) => each !== undefined), filledIn]
      : args.map((each) => (each === given ? filledIn : each));
  };
  const threads = require('node:worker_threads');
  threads.Worker = class Worker extends threads.Worker {
    constructor(file, given) {
      super(file, withEnv(given));
    }
  };
  const programs = require('node:child_process');
  const { spawn } = programs.ChildProcess.prototype;
  programs.ChildProcess.prototype.spawn = function (given) {
    try {
      if (Array.isArray(given?.envPairs)) {
        const pairs = given.envPairs.map((pair) => [
          pair.slice(0, pair.indexOf('=')),
          pair.slice(pair.indexOf('=') + 1),
        ]);
        given.envPairs = Object.entries(filled(Object.fromEntries(pairs))).map(
          ([name, value]) => `${name}=${value}`,
        );
      }
    } catch {
      // Starts the program unchanged.
    }
    return spawn.call(this, given);
  };
  for (const name of ['spawnSync', 'execSync', 'execFileSync']) {
    const original = programs[name];
    programs[name] = alike(original, (...args) => original(...withOptions(args)));
  }
  require('node:module').syncBuiltinESMExports();
};
