/** One event of a stream: its data as sent, and how much of the text was there when it was complete. */
export interface StreamEvent {
  readonly data: string;
  readonly name?: string | undefined;
  /** Where the event ends, in UTF-16 units. */
  readonly end: number;
}

/** The events of a server-sent stream. The last one counts although no blank line follows: many servers leave it out. */
export function parseServerEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let data: string[] = [];
  let name: string | undefined;
  let end = 0;
  const flush = (): void => {
    if (data.length > 0) events.push({ data: data.join('\n'), name, end });
    data = [];
    name = undefined;
  };
  for (const { line, end: lineEnd } of linesOf(text)) {
    if (line === '') flush();
    else if (line.startsWith('data:')) {
      data.push(fieldValue(line, 'data:'));
      end = lineEnd;
    } else if (line.startsWith('event:')) name = fieldValue(line, 'event:').trim();
  }
  flush();
  return events;
}

/** JSON lines as events; a blank line is none. */
export const parseLines = (text: string): StreamEvent[] =>
  [...linesOf(text)].flatMap(({ line, end }) => (line.trim() === '' ? [] : [{ data: line, end }]));

const fieldValue = (line: string, field: string): string => line.slice(field.length).replace(/^ /, '');

function* linesOf(text: string): Generator<{ line: string; end: number }> {
  const lineEnd = /\r\n|\r|\n/g;
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
    yield { line: text.slice(start, found.index), end: found.index };
    start = lineEnd.lastIndex;
  }
  if (start < text.length) yield { line: text.slice(start), end: text.length };
}
