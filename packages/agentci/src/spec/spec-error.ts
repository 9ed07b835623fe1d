import { type Diagnostic, formatDiagnostic } from '../kit/diagnostic.ts';
import { UserError } from '../kit/user-error.ts';

/** A spec that cannot be used. `diagnostics` holds every problem found, sorted by place, warnings included. */
export class SpecError extends UserError {
  constructor(file: string, diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((d) => d.severity === 'error');
    const first = errors[0] === undefined ? '' : `\n${formatDiagnostic(errors[0])}`;
    super(
      'SPEC_INVALID',
      `${file} has ${errors.length} problem${errors.length === 1 ? '' : 's'}${first}`,
      {
        diagnostics,
      },
    );
    this.name = 'SpecError';
  }
}
