import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { CodeStore, type Stamp, type Stored } from './code-store.ts';

interface Loaded {
  exports: unknown;
  chunk: string;
  script: Script;
  stamp: Stamp;
  /** The runs behind the code it was started with: 0 if it was compiled from its source. */
  runs: number;
}

/** Code is written again while runs are few: each adds the functions it was the first to call. */
const LEARNING_RUNS = 3;

/**
 * Loads the program's own chunks, and keeps what V8 made of them for the next run. Half of the time of a short command
 * is compiling; Node 20 keeps no compiled code itself.
 */
export class ChunkLoader {
  readonly #dir = dirname(__filename);
  readonly #require = createRequire(__filename);
  readonly #loaded = new Map<string, Loaded>();
  readonly #store: CodeStore | undefined;

  constructor(command: string | undefined) {
    if (process.env.NODE_DISABLE_COMPILE_CACHE) return;
    this.#store = new CodeStore(join(this.#dir, 'code'), command);
    process.once('exit', (status) => {
      if (status !== 2) this.#keep();
    });
  }

  load<T>(chunk: string): T {
    const known = this.#loaded.get(chunk);
    if (known !== undefined) return known.exports as T;
    const file = join(this.#dir, chunk);
    const { text, stamp } = readSource(file);
    const stored = this.#store?.read(chunk, stamp);
    const script = new Script(
      `(function(exports,require,module,__filename,__dirname,importModule){${text}\n})`,
      {
        filename: file,
        cachedData: stored?.code,
      },
    );
    const runs = stored === undefined || script.cachedDataRejected ? 0 : stored.runs;
    const loaded: Loaded = { exports: {}, chunk, script, stamp, runs };
    this.#loaded.set(chunk, loaded);
    script
      .runInThisContext()
      .call(undefined, loaded.exports, this.#need, loaded, file, this.#dir, importModule);
    return loaded.exports as T;
  }

  readonly #need = (id: string): unknown =>
    id.startsWith('./') ? this.load(id.slice(2)) : this.#require(id);

  #keep(): void {
    const young = [...this.#loaded.values()].filter(({ runs }) => runs < LEARNING_RUNS);
    if (young.length === 0) return;
    try {
      this.#store?.open();
      for (const { chunk, stamp, runs, script } of young)
        this.#store?.write(chunk, stamp, {
          runs: runs + 1,
          code: script.createCachedData(),
        } satisfies Stored);
    } catch {
      // A package that cannot be written to, or a full disk: the next run compiles again.
    }
  }
}

/** Scripts with kept code cannot import modules by themselves; the build has them call this (lean-plugins.ts). */
const importModule = (id: string): Promise<unknown> => import(id);

/** The chunks are ASCII, which Latin-1 reads without decoding. */
function readSource(file: string): { text: string; stamp: Stamp } {
  const descriptor = openSync(file, 'r');
  try {
    const { mtimeMs, size } = fstatSync(descriptor);
    return { text: readFileSync(descriptor, 'latin1'), stamp: { mtimeMs, size } };
  } finally {
    closeSync(descriptor);
  }
}
