import { findCredentials } from '../secrets/credentials.ts';
import { isSecretName } from '../secrets/secrets.ts';
import { lineText, locate, type YamlPlace, type YamlSource } from '../yaml/yaml-node.ts';
import { compareDiagnostics, type Diagnostic } from './diagnostic.ts';
import type { Problem } from './problem.ts';

/** Collects problems. */
export interface ProblemSink {
  add(place: YamlPlace, problem: Problem): void;
}

/** A key and its value: `password: "x"`, `--token=x`. */
const PAIR =
  /([\w.-]{2,64})(["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}[\]"'#][^,{}[\]#]*)/g;

/** Masks secrets by key or form. Keeps the length, because carets point into the line. */
function withStars(line: string): string {
  const named = line.replace(PAIR, (whole, key: string, between: string, value: string) =>
    isSecretName(key) && !/env$/i.test(key) && !value.startsWith('{{')
      ? `${key}${between}${value.replace(/[^\s"']/g, '*')}`
      : whole,
  );
  let shown = named;
  for (const { start, end } of findCredentials(named))
    shown = shown.slice(0, start) + '*'.repeat(end - start) + shown.slice(end);
  return shown;
}

/** More problems say nothing new, and a hostile file must not cost minutes. */
const MAX_PROBLEMS = 1000;

/** Collects the problems of a file, each location once, however often it is referenced. */
export class Problems implements ProblemSink {
  readonly #tooManyCode: string;
  readonly #found: Diagnostic[] = [];
  readonly #seen = new Map<YamlSource, Set<string>>();
  #errors = 0;
  #dropped = 0;

  /** `tooManyCode` is the code of the last line if not all are shown. */
  constructor(tooManyCode: string) {
    this.#tooManyCode = tooManyCode;
  }

  add(place: YamlPlace, problem: Problem): void {
    let seen = this.#seen.get(place.source);
    if (seen === undefined) {
      seen = new Set();
      this.#seen.set(place.source, seen);
    }
    const key = `${place.start} ${problem.code} ${problem.message}`;
    if (seen.has(key)) return;
    seen.add(key);
    const { severity = 'error', code, message, hint } = problem;
    if (severity === 'error') this.#errors++;
    if (this.#found.length >= MAX_PROBLEMS) {
      this.#dropped++;
      return;
    }
    const location = locate(place.source, place.start);
    const excerpt = withStars(lineText(place.source, location.line));
    this.#found.push({
      severity,
      code,
      message,
      ...location,
      excerpt,
      hint,
    });
  }

  addAll(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      if (diagnostic.severity === 'error') this.#errors++;
      this.#found.push(diagnostic);
    }
  }

  /** Number of errors and warnings. */
  get count(): number {
    return this.#found.length + this.#dropped;
  }

  get errors(): number {
    return this.#errors;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  sorted(): readonly Diagnostic[] {
    const sorted = [...this.#found].sort(compareDiagnostics);
    const last = sorted.at(-1);
    if (this.#dropped > 0 && last !== undefined) {
      const { file, line, column } = last;
      const message = `${this.#dropped} more problems are not shown`;
      sorted.push({ severity: 'error', code: this.#tooManyCode, message, file, line, column });
    }
    return sorted;
  }
}
