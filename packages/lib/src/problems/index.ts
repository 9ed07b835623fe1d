export { type Diagnostic, formatDiagnostic, type Location } from './diagnostic.ts';
export type { Problem } from './problem.ts';
export { type ProblemSink, Problems } from './problems.ts';
export { isSystemError, systemErrorText } from './system-error.ts';
export { UserError } from './user-error.ts';
