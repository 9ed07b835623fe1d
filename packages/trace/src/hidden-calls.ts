const CALL_KEY = /calls?|tool|agent|action|step|span|event|message|turn|trajectory|transcript/i;

/** Whether an unread key may contain calls, judging by its name or its content. */
export const mayHoldCalls = (key: string, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (CALL_KEY.test(key) ? !isEmpty(value) : holdsCallList(value, 4));

const isEmpty = (value: object): boolean =>
  Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;

const CALL_LIST = /^(?:tool_?calls|function_?calls?|tool_?uses|calls)$/i;

/** Whether a value contains a list of calls, down to a few levels. */
export function holdsCallList(value: unknown, depth = 1): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value))
    return depth > 0 && value.some((item) => holdsCallList(item, depth - 1));
  for (const [key, inner] of Object.entries(value)) {
    if (CALL_LIST.test(key) && typeof inner === 'object' && inner !== null && !isEmpty(inner))
      return true;
    if (depth > 1 && holdsCallList(inner, depth - 1)) return true;
  }
  return false;
}
