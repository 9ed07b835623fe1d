import { type Fields, isFields } from '@agentci/trace';

/** One line of the version 4 data stream: `0:"text"`, `9:{…}`. Undefined for any other line. */
export function dataStreamPart(line: string): Fields | undefined {
  const [, code, json] = /^([0-9a-l]):(.*)$/s.exec(line) ?? [];
  if (code === undefined || json === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const fields = isFields(value) ? value : {};
  switch (code) {
    case '0':
      return { type: 'text-delta', text: value };
    case 'g':
      return { type: 'reasoning-delta', text: value };
    case '3':
      return { type: 'error', error: value };
    case 'b':
      return { ...fields, type: 'tool-input-start' };
    case 'c':
      return { ...fields, type: 'tool-input-delta', inputTextDelta: fields.argsTextDelta };
    case '9':
      return { ...fields, type: 'tool-call' };
    case 'a':
      return { ...fields, type: 'tool-result' };
    case 'e':
      return { ...fields, type: 'finish-step' };
    case 'd':
      return { ...fields, type: 'finish' };
    default:
      return { type: 'raw' };
  }
}
