import { escapeMarkdownTableCell } from '@agentci/lib/text';
import {
  caseText,
  firstEvidence,
  LAYERS,
  type QueryResult,
  type RunResult,
} from '@agentci/results';
import { visible } from './visible-text.ts';
import { wantedOf } from './wanted.ts';

const MAX_TEXT = 4000;
const MAX_CHECKS = 20;
const MAX_EVIDENCE = 5;
const DEFAULT_SPEC = 'agentci_spec.yaml';

/**
 * A query as the text of an issue: location in the spec, question, answer, expectation, findings,
 * and the command to run it again. Untrusted texts are escaped or in longer fences, so they cannot
 * become markup.
 */
export function issueText(run: RunResult, result: QueryResult, command?: string): string {
  const { query, answer, error, location, conversation } = result;
  const status = result.xfail?.status ?? result.status;
  const checks = LAYERS.flatMap((layer) => result[layer].checks).filter((check) =>
    isOfNote(check.status),
  );
  const facts = [
    location && `Spec: ${inline(`${location.file}:${location.line}:${location.column}`)}`,
    `Agent: ${inline(run.agent)}`,
    `Run: ${inline(run.run_id)}`,
  ].filter(Boolean);
  const found = checks.slice(0, MAX_CHECKS).map((check) => {
    const where = check.location
      ? ` (${inline(`${check.location.file}:${check.location.line}`)})`
      : '';
    const quoted = check.evidence.filter(({ text, step }) => text && step === undefined);
    const quotes = firstEvidence(quoted, MAX_EVIDENCE);
    const more = quotes.reduce((sum, each) => sum + (each.more ?? 0), 0);
    return [
      `- ${check.status}: ${inline(check.id)}${where}: ${inline(check.message)}`,
      ...quotes.map(({ text }) => `  - evidence: ${inline(cut(text!, 300))}`),
      ...(more === 0 ? [] : [`  - and ${more} more`]),
    ].join('\n');
  });
  const wanted = wantedOf(result).map(({ check, words, limit, terms }) => {
    const list = terms
      ?.map(({ text, isMet }) => `${isMet === false ? '✕ ' : ''}${inline(text)}`)
      .join(', ');
    const what = list ?? (limit === undefined ? undefined : inline(limit));
    return `- ${inline(words)}${what === undefined ? '' : `: ${what}`} (${check.status})`;
  });
  const turns = conversation?.turns.map(
    ({ turn, user, answer: said }) =>
      `turn ${turn}\nuser: ${user}\nagent: ${said ?? '(no answer)'}`,
  );
  return [
    `### ${inline(caseText(result))}: ${status}`,
    facts.map((fact) => `- ${fact}`).join('\n'),
    `**Asked**\n\n${fenced(query)}`,
    turns
      ? `**Conversation**\n\n${fenced(turns.join('\n\n'))}`
      : `**Said**\n\n${answer === null ? 'No final answer was captured.' : fenced(answer === '' ? '(empty)' : answer)}`,
    ...(wanted.length === 0 ? [] : [`**Wanted**\n\n${wanted.join('\n')}`]),
    ...(found.length === 0 ? [] : [`**Found**\n\n${found.join('\n')}`]),
    ...(checks.length > MAX_CHECKS ? [`and ${checks.length - MAX_CHECKS} more`] : []),
    ...(error === undefined
      ? []
      : [`**Error** (${inline(error.kind)})\n\n${fenced(error.message)}`]),
    `**Run it again**\n\n${fenced(rerunCommand(run, result, command), 'sh')}`,
  ]
    .join('\n\n')
    .concat('\n');
}

const isOfNote = (status: string): boolean =>
  status === 'fail' || status === 'error' || status === 'warn';

/** The command that runs only this query, for a POSIX shell. */
export function rerunCommand(
  { spec }: RunResult,
  { id, cell }: QueryResult,
  command = [
    'agentci test',
    ...(spec.file === DEFAULT_SPEC ? [] : [`-c ${shellWord(spec.file)}`]),
  ].join(' '),
): string {
  return [
    // Selects only this cell.
    command.replace(/ --cell (?:'(?:[^']|'\\'')*'|\S+)/g, ''),
    // Commas separate ids.
    id.includes(',') ? `--filter ${shellWord(id)}` : `--ids ${shellWord(id)}`,
    ...Object.entries(cell ?? {}).map(([name, value]) => `--cell ${shellWord(`${name}=${value}`)}`),
  ].join(' ');
}

/** Quotes a word for a shell. Control characters, which no id has, become visible signs. */
const shellWord = (text: string): string =>
  /^[\w./:=@%+-]+$/.test(text) && !text.startsWith('-')
    ? text
    : `'${visible(text).replace(/\s/g, ' ').replaceAll("'", `'\\''`)}'`;

const inline = (text: string): string => escapeMarkdownTableCell(visible(cut(text, 500)));

/** A code block whose fence is longer than any run of backticks inside. */
function fenced(text: string, language = 'text'): string {
  const shown = visible(cut(text, MAX_TEXT));
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${shown}\n${fence}`;
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
