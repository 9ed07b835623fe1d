import { parseEvents, YAMLException } from 'js-yaml';
import { compareDiagnostics, type Diagnostic } from '../problems/diagnostic.ts';
import { MAX_DEPTH } from './yaml-anchors.ts';
import { compose } from './yaml-compose.ts';
import { lineText, locate, type YamlNode, type YamlSource } from './yaml-node.ts';
import type { Report } from './yaml-scalar.ts';

export const MAX_YAML_SIZE = 10_000_000;
const MAX_DIAGNOSTICS = 1000;

export interface YamlOptions {
  /** The name used in diagnostics. */
  readonly file: string;
  /** Allowed scalar tags besides those of the core schema, kept on the node. */
  readonly tags?: readonly string[];
}

export interface YamlDocument {
  readonly source: YamlSource;
  /** Absent if the text is unreadable. Next to diagnostics, bad values are `broken` scalars. */
  readonly root?: YamlNode;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads one YAML 1.2 document with the position of every key and value. Never throws: problems are
 * returned as diagnostics, all at once if the text can still be followed.
 */
export function parseYaml(text: string, options: YamlOptions): YamlDocument {
  const source: YamlSource = {
    file: options.file,
    text: text.startsWith('\uFEFF') ? text.slice(1) : text,
  };
  const found: Diagnostic[] = [];
  const report = (start: number, code: string, message: string, hint?: string): void => {
    if (found.length >= MAX_DIAGNOSTICS) return;
    const location = locate(source, start);
    found.push({
      severity: 'error',
      code,
      message,
      ...location,
      excerpt: lineText(source, location.line),
      hint,
    });
  };

  if (text.length > MAX_YAML_SIZE) {
    const message = `the file has ${text.length} characters; at most ${MAX_YAML_SIZE} are read`;
    return {
      source,
      diagnostics: [
        {
          severity: 'error',
          code: 'YAML_TOO_LARGE',
          message,
          file: source.file,
          line: 1,
          column: 1,
        },
      ],
    };
  }
  let root: YamlNode | undefined;
  const tags = new Set(options.tags);
  try {
    root = compose(parseEvents(source.text, { maxDepth: MAX_DEPTH }), { source, tags, report });
  } catch (error) {
    reportSyntax(error, source.text, report);
  }
  found.sort(compareDiagnostics);
  return root === undefined ? { source, diagnostics: found } : { source, root, diagnostics: found };
}

const SYNTAX: readonly { readonly when: RegExp; readonly code: string; readonly hint: string }[] = [
  {
    when: /^tab characters/,
    code: 'YAML_SYNTAX',
    hint: 'indent with spaces; YAML does not allow tabs there',
  },
  { when: /nesting/i, code: 'YAML_TOO_LARGE', hint: `nest at most ${MAX_DEPTH} levels` },
  {
    when: /alias/,
    code: 'YAML_SYNTAX',
    hint: 'a leading * is an alias in YAML; quote the text: "*"',
  },
  {
    when: /deficient indentation|unexpected end/,
    code: 'YAML_SYNTAX',
    hint: 'is a bracket or a quote left open above?',
  },
  { when: /indentation/, code: 'YAML_SYNTAX', hint: 'align this key with the keys next to it' },
  { when: /cannot start any token|reserved/, code: 'YAML_SYNTAX', hint: 'put the text in quotes' },
];

function reportSyntax(error: unknown, text: string, report: Report): void {
  if (!(error instanceof YAMLException)) {
    report(
      0,
      'YAML_SYNTAX',
      `the text cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return;
  }
  const known = SYNTAX.find(({ when }) => when.test(error.reason));
  report(placeOf(error, text), known?.code ?? 'YAML_SYNTAX', error.reason, known?.hint);
}

/** Points at the badly indented key, not at the colon after it. */
function placeOf(error: YAMLException, text: string): number {
  const position = Math.min(error.mark?.position ?? 0, text.length);
  if (!error.reason.startsWith('bad indentation')) return position;
  const lineStart =
    Math.max(text.lastIndexOf('\n', position - 1), text.lastIndexOf('\r', position - 1)) + 1;
  const indentation = /^[ \t]*/.exec(text.slice(lineStart, position))![0].length;
  return lineStart + indentation;
}
