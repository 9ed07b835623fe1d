import { findDocuments, type JsonDocument } from '@agentci/lib/json';
import { isSureRecording } from '../runners/broken-recording.ts';

type Span = Pick<JsonDocument, 'start' | 'end'>;

export type FoundRecording =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly text: string; readonly noise: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Finds a recording in log output. It must be the last JSON document of the output, or the lines of
 * documents that end with it. All other output is noise. Next to other text on the same line, the
 * document must be unmistakably a recording. Fenced code belongs to an answer and is skipped.
 */
export function findRecording(
  text: string,
  isRecording: (json: string) => boolean,
): FoundRecording {
  const isOne = ({ start, end }: Span): boolean => isRecording(text.slice(start, end));
  const isSure = ({ start, end }: Span): boolean =>
    isSureRecording(topKeys(text.slice(start, end)));
  const documents = findDocuments(text).documents.filter(
    (document) => !document.isInline || (isSure(document) && !isQuoted(text, document)),
  );
  const last = documents.at(-1);
  if (last === undefined) return { kind: 'none' };
  const first = firstOfLines(text, documents);
  const lines: Span = { start: first.start, end: last.end };
  const isWhole = first !== last && isOne(lines);
  const found: Span = isWhole ? lines : last;
  const earlier = documents.filter(({ start }) => start < found.start).filter(isOne);
  if (!isWhole && !isOne(last)) {
    return earlier.length === 0
      ? { kind: 'none' }
      : {
          kind: 'refused',
          why: 'the output has a recording that is followed by another JSON document',
        };
  }
  if (earlier.length > 0)
    return {
      kind: 'refused',
      why: `the output has ${earlier.length + 1} recordings instead of one`,
    };
  const around = `${text.slice(0, found.start)}\n${text.slice(found.end)}`;
  const noise = around.split('\n').filter((line) => line.trim() !== '');
  return { kind: 'one', text: text.slice(found.start, found.end), noise };
}

/** The first of the documents directly before the last one, separated only by whitespace. */
function firstOfLines(text: string, documents: readonly JsonDocument[]): JsonDocument {
  let at = documents.length - 1;
  while (at > 0 && text.slice(documents[at - 1]!.end, documents[at]!.start).trim() === '') at--;
  return documents[at]!;
}

/**
 * A sentence that continues after the object quotes it. A log line does not, whatever its ending.
 */
function isQuoted(text: string, { start, end }: JsonDocument): boolean {
  const before = text.slice(text.lastIndexOf('\n', start) + 1, start).trim();
  const after = text.slice(end).split('\n', 1)[0]!.trim();
  return before !== '' && after !== '' && !LOG_LINE.test(before);
}

const LOG_LINE =
  /^\W*(?:\d{4}-\d\d|\d\d:\d\d|(?:trace|debug|info|notice|warn|warning|error|fatal|log)\b)/i;

function topKeys(json: string): string[] {
  const value = JSON.parse(json) as unknown;
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
