import { escapeMarkdownTableCell as escapeMarkdown } from '@agentci/lib/text';
import type { CheckResult, QueryResult } from '@agentci/results';
import { checksOf } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import { isLayer } from '@agentci/spec';
import { CHECK_PAGES } from './check-pages.gen.ts';
import type { SchemaGuide } from './schema-walk.ts';

/** Hover text for a key: the page of the check or a description, and the last result. */
export function hoverText(
  { path, key }: { readonly path: readonly string[]; readonly key: string },
  { guide, verdict }: { readonly guide: SchemaGuide; readonly verdict: QueryResult | undefined },
): string | undefined {
  const layer = path.findLast(isLayer);
  const page = layer === undefined ? undefined : CHECK_PAGES[key];
  const about = page ?? guide.describe(path, key);
  const last =
    verdict === undefined
      ? undefined
      : verdictText(verdict, layer === undefined ? undefined : `${layer}.${key}`);
  const parts = [about, last].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('\n\n---\n\n');
}

function verdictText(result: QueryResult, check: string | undefined): string | undefined {
  if (check === undefined) return `Last verdict on \`${result.id}\`: **${result.status}**`;
  const found = checksOf(result).filter(({ id }) => id === check);
  return found.length === 0 ? undefined : found.map(oneVerdict).join('\n\n');
}

const oneVerdict = ({ status, message }: CheckResult): string =>
  `Last verdict: **${status}**: ${escapeMarkdown(message)}`;

/** The query at a line of a file. */
export function queryAt({ queries }: Suite, file: string, line: number): Query | undefined {
  return queries.findLast(
    ({ location }) => location !== undefined && location.file === file && location.line <= line + 1,
  );
}
