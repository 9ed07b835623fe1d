import type { Block } from '../../model.ts';

/** The conversion of one provider. */
export type RunnerOutcome =
  | { readonly runner: Block; readonly close?: string; readonly variables?: readonly string[] }
  | { readonly none: string };
