import { z } from 'zod';
import { foldText } from '../../kit/text-fold.ts';

/** `lexical` looks for texts in texts; `model` asks the judge. Written, never guessed: a bound belongs to a method. */
export const methodParams = () =>
  z.strictObject({ method: z.enum(['lexical', 'model']).default('lexical').describe('how it is measured') });

/** Which of the contexts stand word for word in the answer, without regard to case. */
export function containedContexts(contexts: readonly string[], answer: string): boolean[] {
  const folded = foldText(answer);
  return contexts.map((context) => folded.includes(foldText(context)));
}
