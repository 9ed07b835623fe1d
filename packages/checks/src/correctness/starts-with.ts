import { visibleText } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { noAnswer, searching } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { clip, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'starts_with',
  severity: 'fail',
  order: 36,
  summary:
    'The answer must begin with this text. Case does not count, unless `case_sensitive` is true.',
  wants: (text) => `The answer starts with ${quoted(text)}`,
  failure: {
    why: 'the answer begins with other words',
    help: 'the message shows how it begins. Look for a greeting or a code fence',
  },
  example: 'Dear customer',
  schema: v.string(),
  inspect: (text) =>
    visibleText(text).trim() === ''
      ? [
          {
            code: 'SPEC_CANNOT_FAIL',
            message: 'starts_with is blank, and every answer begins with nothing',
          },
        ]
      : [],
  evaluate: (text, context) => {
    const { answer, prepare } = searching(context);
    const limit = clip(text);
    if (answer === undefined)
      return unmeasured(`${noAnswer(context.trace)}; it should begin with ${quoted(text)}`, {
        limit,
      });
    const start = answer.trimStart();
    const isSo = start.startsWith(prepare(text).trimStart());
    const value = clip(start.slice(0, Math.max(40, text.length)));
    const rest = { value, limit, details: { starts_with: { matched: isSo } } };
    return isSo
      ? held(`the answer begins with ${quoted(text)}`, rest)
      : violated(`the answer begins with ${quoted(value)}, not with ${quoted(text)}`, rest);
  },
});
