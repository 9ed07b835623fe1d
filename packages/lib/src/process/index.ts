export { findProgram } from './find-program.ts';
export { killMarked, MARK, newMark, outlives, SERVER_MARK } from './process-mark.ts';
