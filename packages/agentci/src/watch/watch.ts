import { spawn } from 'node:child_process';
import { join, relative, resolve } from 'node:path';
import { makeFolder } from '@agentci/lib/files';
import { formatDiagnostic, isSystemError, systemErrorText, UserError } from '@agentci/lib/problems';
import { escapeTerminal, escapeTerminalLine, plural } from '@agentci/lib/text';
import type { QueryResult, RunResult } from '@agentci/results';
import { type CaseName, caseKey } from '@agentci/results';
import type { JournalEntry } from '@agentci/run';
import { runSuite } from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { loadSpec, selectQueries } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { Io } from '../cli/io.ts';
import { writeReports } from '../report/write-reports.ts';
import { folderOf, specPath } from '../stored-runs/spec-folders.ts';
import { cellsOf } from '../test-command/cell-option.ts';
import { prepareTests, runOptionsOf } from '../test-command/prepare-tests.ts';
import { runPrepared } from '../test-command/run-tests.ts';
import type { TestOptions } from '../test-command/test-options.ts';
import { KEY_HELP, type Key, listenToKeys } from './keys.ts';
import { touchedCases } from './touched-cases.ts';
import { changedBetween, type Role, stateOf, watchedFiles } from './watched-files.ts';

const LOOK_MS = 200;
const EXIT_INTERRUPTED = 130;

/** Runs the spec, then reruns affected cases after each change, until it is stopped. */
export async function watchTests(given: TestOptions, io: Io): Promise<number> {
  const { watch: _, ...options } = given;
  return new Watcher(options, io).run();
}

class Watcher {
  readonly #given: TestOptions;
  readonly #io: Io;
  readonly #file: string;
  readonly #keys: Key[] = [];
  readonly #stop = new AbortController();
  /** The last result and traces of each case. */
  readonly #results = new Map<string, QueryResult>();
  readonly #traces = new Map<string, Trace[]>();
  #suite: Suite | undefined;
  #last: RunResult | undefined;
  #files = new Map<string, Role>();
  #state = new Map<string, string>();
  #filter: string | undefined;
  #isRunning = false;

  constructor(given: TestOptions, io: Io) {
    this.#given = given;
    this.#io = io;
    this.#file = resolve(io.cwd, specPath(given.config, io.cwd));
    this.#filter = given.filter;
  }

  async run(): Promise<number> {
    let wasCut = false;
    const onAbort = (): void => {
      wasCut = this.#isRunning;
      this.#stop.abort();
    };
    if (this.#io.signal.aborted) onAbort();
    this.#io.signal.addEventListener('abort', onAbort, { once: true });
    const release = listenToKeys(process.stdin, (key) => this.#keys.push(key), {
      echo: (text) => this.#io.stderr.write(text),
      interrupt: () => process.kill(process.pid, 'SIGINT'),
    });
    try {
      this.#look();
      await this.#attempt(() => this.#runAll(undefined));
      while (!this.#stop.signal.aborted) {
        this.#settle();
        this.#say();
        await this.#attempt(await this.#next());
      }
    } finally {
      release();
      this.#io.signal.removeEventListener('abort', onAbort);
    }
    return wasCut ? EXIT_INTERRUPTED : 0;
  }

  /** Waits for a key or a change, and returns its action. */
  async #next(): Promise<() => Promise<void>> {
    while (!this.#stop.signal.aborted) {
      const key = this.#keys.shift();
      if (key !== undefined) return () => this.#onKey(key);
      if (this.#changed().length > 0) {
        // An editor may write more than one file.
        await pause(LOOK_MS, this.#stop.signal);
        const changed = this.#changed();
        const before = this.#files;
        this.#look();
        const roles = new Map([...before, ...this.#files]);
        if (changed.length > 0) return () => this.#onChange(changed, roles);
      }
      await pause(LOOK_MS, this.#stop.signal);
    }
    return async () => {};
  }

  /** Reports a user's mistake, because the next change may fix it. */
  async #attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (error instanceof UserError) {
        for (const diagnostic of error.diagnostics)
          this.#io.stderr.write(`${escapeTerminal(formatDiagnostic(diagnostic))}\n`);
        this.#io.stderr.write(
          `agentci: ${escapeTerminal(error.message.split('\n', 1)[0]!)} [${error.code}]\n`,
        );
        if (error.hint !== undefined)
          this.#io.stderr.write(`  hint: ${escapeTerminal(error.hint)}\n`);
      } else if (isSystemError(error))
        this.#io.stderr.write(`agentci: ${escapeTerminal(systemErrorText(error)!)}\n`);
      else throw error;
    }
  }

  #look(): void {
    this.#files = this.#watched();
    this.#state = stateOf(this.#files.keys());
  }

  #watched(): Map<string, Role> {
    const files = watchedFiles(this.#file, this.#suite, this.#recordings);
    for (const report of this.#reports) files.delete(report);
    return files;
  }

  #changed(): string[] {
    return changedBetween(this.#state, stateOf(this.#watched().keys()));
  }

  /**
   * Called after a run. Changes during the run still count, except in files next to the agent: the
   * agent may have written them, and would run in an endless loop. Newly watched files are not
   * changes.
   */
  #settle(): void {
    const files = this.#watched();
    const now = stateOf(files.keys());
    for (const [file, role] of files)
      if (role === 'beside' || !this.#files.has(file)) this.#state.set(file, now.get(file)!);
    for (const [file, role] of this.#files)
      if (role === 'beside' && !files.has(file)) this.#state.delete(file);
    this.#files = files;
  }

  /** Files written by the run itself. */
  get #reports(): string[] {
    const named = (this.#given.format ?? []).flatMap((format) => format.split('=').slice(1));
    return [...named, ...(this.#given.output ?? [])].map((file) => resolve(this.#io.cwd, file));
  }

  get #recordings(): string | undefined {
    return this.#given.traces === undefined ? undefined : resolve(this.#io.cwd, this.#given.traces);
  }

  #say(): void {
    const filter =
      this.#filter === undefined ? '' : ` · filter "${escapeTerminalLine(this.#filter)}"`;
    const keys = process.stdin.isTTY === true ? `  ${KEY_HELP}` : '';
    this.#io.stderr.write(`watching ${plural(this.#files.size, 'file')}${filter}${keys}\n`);
  }

  async #onKey(key: Key): Promise<void> {
    switch (key.key) {
      case 'quit':
        this.#stop.abort();
        return;
      case 'open':
        return this.#open();
      case 'filter':
        this.#filter = key.text.trim() === '' ? undefined : key.text.trim();
        return this.#runAll(undefined);
      case 'all':
        this.#filter = this.#given.filter;
        return this.#runAll(undefined);
      case 'failed':
        return this.#runFailed();
    }
  }

  async #runFailed(): Promise<void> {
    const failed = [...this.#results.values()].filter(
      ({ status }) => status === 'fail' || status === 'error',
    );
    if (failed.length === 0) this.#io.stderr.write('nothing failed\n');
    else await this.#runAll(failed);
  }

  async #onChange(changed: readonly string[], roles: ReadonlyMap<string, Role>): Promise<void> {
    const names = changed
      .slice(0, 3)
      .map((file) => escapeTerminalLine(relative(this.#io.cwd, file)));
    this.#io.stderr.write(
      `changed: ${names.join(', ')}${changed.length > 3 ? ` and ${changed.length - 3} more` : ''}\n`,
    );
    const before = this.#suite;
    const { suite } = await loadSpec(specPath(this.#given.config, this.#io.cwd));
    this.#suite = suite;
    if (before === undefined) return this.#runAll(undefined);
    const { run, judge } = touchedCases({
      before,
      after: suite,
      files: changed,
      roleOf: (file) => roles.get(file),
      specFile: this.#file,
    });
    const selected = new Set(this.#selected(suite).map(caseKey));
    const isSelected = (query: Query): boolean => selected.has(caseKey(query));
    const isRecorded = this.#recordings !== undefined || suite.runner?.kind === 'replay';
    const toRun = run.filter(isSelected);
    // A case without a trace must run to get one.
    const toJudge = judge.filter(isSelected);
    const hasTrace = (query: Query): boolean => isRecorded || this.#traces.has(caseKey(query));
    const missing = toJudge.filter((query) => !hasTrace(query));
    if (toRun.length + toJudge.length === 0)
      this.#io.stderr.write('no selected query is touched\n');
    if (toRun.length + missing.length > 0) await this.#runAll([...toRun, ...missing]);
    const again = toJudge.filter(hasTrace);
    if (again.length > 0) await (isRecorded ? this.#runAll(again) : this.#judge(suite, again));
  }

  #selected(suite: Suite): readonly Query[] {
    const { tags, ids, cell } = this.#given;
    return selectQueries(suite, { tags, ids, filter: this.#filter, cells: cellsOf(suite, cell) });
  }

  /** Runs the agent, or reads the recordings, for these cases. Default: all selected cases. */
  async #runAll(only: readonly CaseName[] | undefined): Promise<void> {
    this.#isRunning = true;
    try {
      const { filter: _, ...given } = this.#given;
      const options = { ...given, filter: this.#filter, ...(only && { failed: undefined }) };
      const prepared = await prepareTests(options, this.#io, 'test');
      this.#suite = prepared.suite;
      const chosen = only?.map(({ id, cell }) => (cell === undefined ? { id } : { id, cell }));
      const fresh = new Set<string>();
      const record = ({ id, result }: JournalEntry, trace: Trace | undefined): void => {
        if (trace === undefined || this.#recordings !== undefined) return;
        const key = caseKey({ id, cell: result.cell });
        if (!fresh.has(key)) this.#traces.set(key, []);
        fresh.add(key);
        this.#traces.get(key)!.push(trace);
      };
      const cases = chosen ?? prepared.only;
      const { run } = await runPrepared({ ...prepared, only: cases }, this.#io, { record });
      if (run !== undefined) this.#keep(run);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Judges the existing traces again without running the agent. */
  async #judge(suite: Suite, queries: readonly Query[]): Promise<void> {
    this.#io.stderr.write(
      `judging ${plural(queries.length, 'query', 'queries')} again, without running the agent\n`,
    );
    this.#isRunning = true;
    try {
      const run = await runSuite({
        ...runOptionsOf(this.#given, suite, this.#io),
        only: queries,
        traces: queries.flatMap((query) => this.#traces.get(caseKey(query)) ?? []),
        runId: this.#last?.run_id ?? 'watch',
      });
      this.#keep(run);
      await writeReports(run, [{ reporter: 'console' }], {
        io: this.#io,
        quiet: this.#given.quiet ?? false,
      });
    } finally {
      this.#isRunning = false;
    }
  }

  #keep(run: RunResult): void {
    this.#last = run;
    for (const result of run.results) this.#results.set(caseKey(result), result);
  }

  /** Writes the report of the last run and opens it in the browser. */
  async #open(): Promise<void> {
    if (this.#last === undefined || this.#suite === undefined) return;
    const folder = join(folderOf(this.#suite, this.#io), '.agentci');
    makeFolder(folder);
    const file = join(folder, 'report.html');
    await writeReports(this.#last, [{ reporter: 'html', file }], { io: this.#io, quiet: true });
    let opener: 'open' | 'explorer' | 'xdg-open';
    if (process.platform === 'darwin') opener = 'open';
    else if (process.platform === 'win32') opener = 'explorer';
    else opener = 'xdg-open';
    // Without a browser, the user has the path.
    spawn(opener, [file], { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref();
  }
}

/** Waits, or returns early on abort. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
