export { compileExpression } from './engine.ts';
export { type CelVariables, NotCaptured } from './expression.ts';
