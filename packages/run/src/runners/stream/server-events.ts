/**
 * One event of a stream: its data as sent, and the position in the text at which it was complete.
 */
export interface StreamEvent {
  readonly data: string;
  readonly name?: string | undefined;
  /** End of the event, in UTF-16 units. */
  readonly end: number;
  /** The blank line after the event is missing, so the event may be incomplete. */
  readonly isOpen?: boolean;
}

/** The events of a server-sent stream, including named events without data. */
export function parseServerEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let data: string[] = [];
  let name: string | undefined;
  let end = 0;
  const flush = (isOpen: boolean): void => {
    if (data.length > 0 || name !== undefined)
      events.push({ data: data.join('\n'), name, end, isOpen: isOpen || undefined });
    data = [];
    name = undefined;
  };
  for (const { line, end: lineEnd } of linesOf(text)) {
    if (line === '') flush(false);
    else if (line.startsWith('data:')) {
      data.push(fieldValue(line, 'data:'));
      end = lineEnd;
    } else if (line.startsWith('event:')) {
      name = fieldValue(line, 'event:').trim();
      end = lineEnd;
    }
  }
  flush(true);
  return events;
}

/** JSON lines as events. Skips blank lines. */
export const parseLines = (text: string): StreamEvent[] =>
  [...linesOf(text)].flatMap(({ line, end }) => (line.trim() === '' ? [] : [{ data: line, end }]));

const fieldValue = (line: string, field: string): string =>
  line.slice(field.length).replace(/^ /, '');

function* linesOf(text: string): Generator<{ line: string; end: number }> {
  const lineEnd = /\r\n|\r|\n/g;
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
    yield { line: text.slice(start, found.index), end: found.index };
    start = lineEnd.lastIndex;
  }
  if (start < text.length) yield { line: text.slice(start), end: text.length };
}
