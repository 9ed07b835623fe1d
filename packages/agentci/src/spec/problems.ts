import { compareDiagnostics, type Diagnostic } from '../kit/diagnostic.ts';
import { lineText, locate, type YamlSource } from '../kit/yaml-node.ts';
import { ABSENT_EXPERT, type Expert } from './expert.ts';
import type { Place, Problem, ProblemSink } from './problem.ts';

/** Past this many the rest says nothing new, and a hostile file must not cost minutes. */
const MAX_PROBLEMS = 1000;

/** Collects what is wrong with a spec. One place gives each problem once: a bad default would otherwise be reported for every query. */
export class Problems implements ProblemSink {
  /** Who is asked about values that are not accepted at once. */
  readonly expert: Expert;
  readonly #found: Diagnostic[] = [];
  readonly #seen = new Map<YamlSource, Set<string>>();
  #errors = 0;
  #dropped = 0;

  constructor(expert: Expert = ABSENT_EXPERT) {
    this.expert = expert;
  }

  add(place: Place, problem: Problem): void {
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
    const excerpt = lineText(place.source, location.line);
    this.#found.push({ severity, code, message, ...location, excerpt, ...(hint === undefined ? {} : { hint }) });
  }

  addAll(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      if (diagnostic.severity === 'error') this.#errors++;
      this.#found.push(diagnostic);
    }
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
      sorted.push({ severity: 'error', code: 'SPEC_TOO_MANY', message, file, line, column });
    }
    return sorted;
  }
}
