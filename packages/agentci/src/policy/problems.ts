import { compareDiagnostics, type Diagnostic } from '../kit/diagnostic.ts';
import { lineText, locate, type YamlEntry, type YamlSource } from '../kit/yaml-node.ts';

export interface Place {
  readonly source: YamlSource;
  readonly start: number;
}

export interface Problem {
  readonly severity?: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

const MAX_PROBLEMS = 1000;

/** Collects what is wrong with a policy; one place gives each problem once, however often it is referred to. */
export class PolicyProblems {
  readonly #found: Diagnostic[] = [];
  readonly #seen = new Map<YamlSource, Set<string>>();
  #errors = 0;

  get errors(): number {
    return this.#errors;
  }

  add({ source, start }: Place, { severity = 'error', code, message, hint }: Problem): void {
    let seen = this.#seen.get(source);
    if (seen === undefined) {
      seen = new Set();
      this.#seen.set(source, seen);
    }
    const key = `${start} ${code} ${message}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (severity === 'error') this.#errors++;
    if (this.#found.length >= MAX_PROBLEMS) return;
    const location = locate(source, start);
    const excerpt = lineText(source, location.line);
    this.#found.push({ severity, code, message, ...location, excerpt, ...(hint === undefined ? {} : { hint }) });
  }

  addAll(diagnostics: readonly Diagnostic[]): void {
    this.#errors += diagnostics.filter(({ severity }) => severity === 'error').length;
    this.#found.push(...diagnostics);
  }

  sorted(): readonly Diagnostic[] {
    return [...this.#found].sort(compareDiagnostics);
  }
}

export const keyPlace = ({ keySource, keyStart }: YamlEntry): Place => ({ source: keySource, start: keyStart });
