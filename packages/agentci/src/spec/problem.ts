import type { YamlSource } from '../kit/yaml-node.ts';

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

/** Where problems are reported. */
export interface ProblemSink {
  add(place: Place, problem: Problem): void;
}
