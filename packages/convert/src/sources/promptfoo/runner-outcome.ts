import type { Block } from '../../model.ts';

/** What one provider becomes. */
export type RunnerOutcome =
  | { readonly runner: Block; readonly close?: string; readonly variables?: readonly string[] }
  | { readonly none: string };
