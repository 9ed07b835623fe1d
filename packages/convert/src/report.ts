import { present } from '@agentci/lib/data';
import { escapeMarkdownTableCell } from '@agentci/lib/text';
import type { Finding, Verdict } from './model.ts';

/** Output of `agentci convert --json`, and content of `convert-report.json`. */
export interface ConvertReport {
  readonly schema: 'agentci.convert/1';
  readonly from: string;
  readonly spec: string;
  readonly cases: number;
  readonly assertions: readonly Finding[];
  /** Providers, prompts and other parts of the source besides assertions. */
  readonly settings: readonly Finding[];
  /** Skipped cases in the spec, with the reason. */
  readonly skipped: readonly {
    readonly id: string;
    readonly file: string;
    readonly line: number;
    readonly why: string;
  }[];
  readonly counts: {
    readonly exact: number;
    readonly close: number;
    readonly none: number;
    readonly cases: number;
    readonly skipped: number;
  };
  readonly lossy: boolean;
  readonly files: readonly string[];
}

/** Whether the whole source is in the spec. */
export const isWhole = ({ counts, settings, lossy }: ConvertReport): boolean => {
  const isLeft = (verdict: Verdict): boolean =>
    verdict === 'none' || (verdict === 'close' && !lossy);
  return (
    counts.none === 0 &&
    (lossy || counts.close === 0) &&
    counts.skipped === 0 &&
    !settings.some(({ verdict }) => isLeft(verdict))
  );
};

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The first lines of every report, with the counts. */
export function summaryLines({ from, cases, counts, lossy, spec }: ConvertReport): string[] {
  let close: '' | ' (written, with a comment)' | ' (left out; --lossy writes them)';
  if (counts.close === 0) close = '';
  else if (lossy) close = ' (written, with a comment)';
  else close = ' (left out; --lossy writes them)';
  return present([
    `${from}: ${plural(cases, 'case')}, ${plural(counts.exact + counts.close + counts.none, 'assertion')} → ${spec}`,
    `exact ${counts.exact}, close ${counts.close}${close}, none ${counts.none}`,
    counts.skipped === 0
      ? undefined
      : `${plural(counts.skipped, 'case')} without a check, skipped in the spec with the reason`,
  ]);
}

const MAX_PLACES = 3;

/** The parts that were not carried exactly, grouped by kind with the first few places. */
export function groupLeft(
  findings: readonly Finding[],
): readonly { readonly text: string; readonly count: number }[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (finding.verdict === 'exact') continue;
    const key = `${finding.verdict} ${finding.type}: ${finding.why ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups].map(([key, group]) => {
    const places = group.slice(0, MAX_PLACES).map(({ file, line }) => `${file}:${line}`);
    const more = group.length > MAX_PLACES ? ` and ${group.length - MAX_PLACES} more` : '';
    return { text: `${key} (${places.join(', ')}${more})`, count: group.length };
  });
}

/** The report as a Markdown page: every assertion with its line. */
export function markdownReport(report: ConvertReport): string {
  // Most texts of a report are repeated often.
  const escaped = new Map<string, string>();
  const cell = (text: string): string => {
    const known = escaped.get(text) ?? escapeMarkdownTableCell(text);
    escaped.set(text, known);
    return known;
  };
  const row = ({ file, line, type, verdict, target = '', why = '' }: Finding): string =>
    `| ${cell(file)}:${line} | ${cell(type)} | ${verdict} | ${cell(target)} | ${cell(why)} |`;
  const table = (title: string, findings: readonly Finding[]): string[] =>
    findings.length === 0
      ? []
      : [
          '',
          `## ${title}`,
          '',
          '| where | source | verdict | here | why |',
          '| --- | --- | --- | --- | --- |',
          ...findings.map(row),
        ];
  const skipped = report.skipped.map(
    ({ id, file, line, why }) =>
      `| ${[id, `${file}:${line}`, why].map(escapeMarkdownTableCell).join(' | ')} |`,
  );
  return `${[
    '# What was converted',
    '',
    ...summaryLines(report).map((line) => `- ${escapeMarkdownTableCell(line)}`),
    ...(skipped.length === 0
      ? []
      : [
          '',
          '## Cases without a check',
          '',
          '| id | where | why |',
          '| --- | --- | --- |',
          ...skipped,
        ]),
    ...table('Settings', report.settings),
    ...table('Assertions', report.assertions),
  ].join('\n')}\n`;
}
