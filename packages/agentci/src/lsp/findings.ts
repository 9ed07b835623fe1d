import type { Diagnostic } from '@agentci/lib/problems';
import type { CodeAction, Diagnostic as EditorDiagnostic, Range } from 'vscode-languageserver/node';

const ERROR = 1;
const WARNING = 2;
const WORD = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\w$.-]+)/;
const SUGGESTION = /did you mean "([^"]+)"/i;

/** A finding as an editor diagnostic, underlined to the end of the word. */
export function editorDiagnostic(found: Diagnostic, lines: readonly string[]): EditorDiagnostic {
  return {
    range: rangeOf(found, lines),
    severity: found.severity === 'error' ? ERROR : WARNING,
    code: found.code,
    source: 'agentci',
    message: found.hint === undefined ? found.message : `${found.message}\n${found.hint}`,
  };
}

function rangeOf({ line, column }: Diagnostic, lines: readonly string[]): Range {
  const rest = (lines[line - 1] ?? '').slice(column - 1);
  const length = WORD.exec(rest)?.[0].length ?? rest.trimEnd().length;
  const start = { line: line - 1, character: column - 1 };
  return { start, end: { line: line - 1, character: column - 1 + Math.max(1, length) } };
}

/** The replacements for the "did you mean" findings in a range. */
export function quickFixes(
  uri: string,
  found: readonly Diagnostic[],
  lines: readonly string[],
  range: Range,
): CodeAction[] {
  return found.flatMap((one): CodeAction[] => {
    const meant = SUGGESTION.exec(one.hint ?? '')?.[1];
    const at = one.line - 1;
    if (meant === undefined || at < range.start.line || at > range.end.line) return [];
    const place = rangeOf(one, lines);
    const written = (lines[at] ?? '').slice(place.start.character, place.end.character);
    const quote = /^["']/.exec(written)?.[0] ?? '';
    return [
      {
        title: `Change to "${meant}"`,
        kind: 'quickfix',
        isPreferred: true,
        diagnostics: [editorDiagnostic(one, lines)],
        edit: { changes: { [uri]: [{ range: place, newText: `${quote}${meant}${quote}` }] } },
      },
    ];
  });
}
