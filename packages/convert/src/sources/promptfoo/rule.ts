import type { Part } from '../../model.ts';
import type { Assertion } from './assertion-text.ts';
import { render, type Vars } from './render.ts';

export interface RuleInput {
  readonly assertion: Assertion;
  /** The value with its variables filled in and its file read. */
  readonly value: unknown;
  readonly isInverse: boolean;
}

export type RuleOutcome =
  | {
      readonly parts: readonly Part[];
      /** The difference from the source, if any. */
      readonly close?: string | undefined;
      readonly note?: string | undefined;
      /** The parts include `not-` already. */
      readonly isNegated?: true;
    }
  | { readonly none: string };

/** The conversion of one assertion type. */
export interface Rule {
  readonly read: (input: RuleInput) => RuleOutcome;
  /** Its score lies between 0 and 1. */
  readonly isGraded?: true;
}

type Resolved =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

/**
 * The value as promptfoo sees it: a text or the texts of a list are templates, `file://` is read,
 * maps stay unchanged.
 */
export function resolveValue(
  value: unknown,
  { vars, readFile }: { readonly vars: Vars; readonly readFile: (path: string) => unknown },
): Resolved {
  if (typeof value === 'string') return resolveText(value, vars, readFile);
  if (!Array.isArray(value)) return { ok: true, value };
  const items: unknown[] = [];
  for (const item of value) {
    const resolved =
      typeof item === 'string'
        ? resolveText(item, vars, readFile)
        : { ok: true as const, value: item as unknown };
    if (!resolved.ok) return resolved;
    items.push(resolved.value);
  }
  return { ok: true, value: items };
}

function resolveText(text: string, vars: Vars, readFile: (path: string) => unknown): Resolved {
  if (text.startsWith('package:')) return { ok: false, why: 'its value comes from code' };
  if (!text.startsWith('file://')) {
    const rendered = render(text, vars);
    return rendered.ok ? { ok: true, value: rendered.text } : rendered;
  }
  const path = text.slice('file://'.length);
  if (/\.(?:[cm]?[jt]s|py|rb)(?::|$)/.test(path))
    return { ok: false, why: 'its value comes from code' };
  if (!/\.(?:json|ya?ml|txt)$/.test(path))
    return { ok: false, why: `"${path}" is not JSON, YAML or .txt` };
  const read = readFile(path);
  return { ok: true, value: typeof read === 'string' ? read.trim() : read };
}
