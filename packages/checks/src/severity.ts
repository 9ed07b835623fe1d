import { v } from '@agentci/lib/values';
import type { Layer } from '@agentci/results';
import { defineSetting, type Setting, type Severity } from './check.ts';

export type { Severity };

/**
 * What a violation of a check counts as: what `severity:` of its own block says, else what the check itself says. A check
 * that is a rule on tools (`isFixed`) is never softened. `block` is a layer's block, or that of a combinator.
 */
export function severityOf(
  { severity, isFixed }: { readonly severity: Severity; readonly isFixed?: true | undefined },
  block: Readonly<Record<string, unknown>> | undefined,
): Severity {
  return isFixed === true ? severity : (writtenSeverity(block) ?? severity);
}

export function writtenSeverity(
  block: Readonly<Record<string, unknown>> | undefined,
): Severity | undefined {
  const written = block?.severity;
  return written === 'fail' || written === 'warn' ? written : undefined;
}

/** The key itself, which every layer has. */
export const severitySetting = (layer: Layer, summary: string): Setting<Severity> =>
  defineSetting({
    layer,
    key: 'severity',
    order: 990,
    summary,
    example: 'warn',
    schema: v.enum(['fail', 'warn']),
  });
