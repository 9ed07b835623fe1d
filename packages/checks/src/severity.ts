import { v } from '@agentci/lib/values';
import type { Layer } from '@agentci/results';
import { defineSetting, type Setting, type Severity } from './check.ts';

export type { Severity };

/**
 * The severity of a violation: `severity:` of its block, else the check's own. Prohibitions
 * (`isFixed`) are never softened. `block` is a layer's block or a combinator's.
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

/** The `severity` key of a layer. */
export const severitySetting = (layer: Layer, summary: string): Setting<Severity> =>
  defineSetting({
    layer,
    key: 'severity',
    order: 990,
    summary,
    example: 'warn',
    schema: v.enum(['fail', 'warn']),
  });
