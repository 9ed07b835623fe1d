import { present } from '@agentci/lib/data';
import type { CaseLayout, LayerLayout, Owned } from './layout.ts';
import type { Block, BlockValue, Carried, ConvertedSuite, Finding } from './model.ts';
import type { RowSet } from './rows.ts';
import {
  asWritten,
  comment,
  entryLines,
  escapeBraces,
  itemLines,
  type TextWriter,
} from './yaml-text.ts';

/** A line of the spec with its assertion. */
interface Line {
  readonly text: string;
  readonly owner?: Carried | undefined;
}

export interface SpecText {
  readonly text: string;
  /** The assertion of each line of the text, by line number from 1. */
  readonly owners: ReadonlyMap<number, Carried>;
}

/** Writes the spec: head, then one query per case or per set of rows. */
export function writeSpec(
  suite: ConvertedSuite,
  queries: readonly (CaseLayout | RowSet)[],
  { title, agent }: { readonly title: string; readonly agent: string },
): SpecText {
  const hasMatrix = suite.matrix !== undefined;
  const head = present([
    comment(
      `Made by "agentci convert" from ${title}. convert-report.md says what each assertion became.`,
      '',
    ),
    'version: 1',
    ...entryLines('agent', agent, '', asWritten),
    suite.runner === undefined || suite.closeRunner === undefined
      ? undefined
      : comment(`close: the runner is ${suite.closeRunner}`, ''),
    ...(suite.runner === undefined ? [] : entryLines('runner', suite.runner, '', asWritten)),
    ...(suite.matrix === undefined ? [] : entryLines('matrix', suite.matrix, '', asWritten)),
    ...(suite.judge === undefined ? [] : entryLines('judge_config', suite.judge, '', asWritten)),
    'queries:',
  ]);
  const lines: Line[] = [...head.map((text) => ({ text }))];
  for (const query of queries) lines.push(...queryLines(query, hasMatrix));
  const owners = new Map<number, Carried>();
  for (const [i, { owner }] of lines.entries()) if (owner !== undefined) owners.set(i + 1, owner);
  return { text: `${lines.map(({ text }) => text).join('\n')}\n`, owners };
}

const INDENT = '    ';

function queryLines(query: CaseLayout | RowSet, hasMatrix: boolean): Line[] {
  const rows = 'file' in query ? query : undefined;
  const layout = 'file' in query ? query.shape : query;
  const { source } = layout;
  const inScope = hasMatrix || rows !== undefined || source.vars !== undefined;
  // The rows decide how their variables are written. The rest is text.
  const write: TextWriter = inScope ? (rows?.write ?? escapeBraces) : asWritten;
  const own: Line[] = [];
  const add = (key: string, value: BlockValue | undefined, writer: TextWriter = write): void => {
    if (value !== undefined)
      for (const text of entryLines(key, value, INDENT, writer)) own.push({ text });
  };
  add('id', layout.id, asWritten);
  if (source.conversation !== undefined) add('conversation', source.conversation);
  else add('query', source.query);
  if (rows !== undefined) add('rows', rows.file, asWritten);
  add('description', source.description);
  add('tags', source.tags);
  add('runs', source.runs);
  add('skip', layout.skip);
  if (rows === undefined) add('vars', source.vars, asWritten);
  add('metadata', source.metadata);
  add('context', source.context);
  add('expected_output', source.expectedOutput);
  if (layout.skip === undefined) {
    const owner = source.carried.find(({ isPolicy }) => isPolicy === true);
    if (source.policy !== undefined && owner !== undefined)
      own.push(...owned(entryLines('policy', source.policy, INDENT, asWritten), owner));
    for (const layer of layout.layers) own.push(...layerLines(layer, INDENT, write));
    if (layout.turns.length > 0)
      own.push(
        { text: `${INDENT}turns:` },
        ...layout.turns.flatMap((turn) => turnLines(turn, write)),
      );
  }
  const notes = layout.left
    .slice(0, 20)
    .map((finding) => ({ text: comment(`not carried: ${describe(finding)}`, '  ') }));
  return [
    ...notes,
    { ...own[0]!, text: `  - ${own[0]!.text.slice(INDENT.length)}` },
    ...own.slice(1),
  ];
}

const describe = ({ type, file, line, why, verdict }: Finding): string =>
  `${type} (${file}:${line})${verdict === 'close' ? ', close' : ''}${why === undefined ? '' : `: ${why}`}`;

function turnLines(
  { turn, layers }: { readonly turn: number; readonly layers: readonly LayerLayout[] },
  write: TextWriter,
): Line[] {
  const inside = `${INDENT}    `;
  return [
    { text: `${INDENT}  - turn: ${turn}` },
    ...layers.flatMap((layer) => layerLines(layer, inside, write)),
  ];
}

function layerLines(
  { layer, keys, lists, all, severity }: LayerLayout,
  indent: string,
  write: TextWriter,
): Line[] {
  const inside = `${indent}  `;
  const lines: Line[] = [{ text: `${indent}${layer}:` }];
  if (severity !== undefined) lines.push({ text: `${inside}severity: ${severity}` });
  for (const [key, { value, owner }] of keys)
    lines.push(...closeNote(owner, inside), ...owned(entryLines(key, value, inside, write), owner));
  for (const [key, items] of lists)
    lines.push({ text: `${inside}${key}:` }, ...listLines(items, `${inside}  `, write));
  if (all.length > 0)
    lines.push({ text: `${inside}all:` }, ...listLines(all, `${inside}  `, write));
  return lines;
}

const listLines = (
  items: readonly Owned<BlockValue | Block>[],
  indent: string,
  write: TextWriter,
): Line[] =>
  items.flatMap(({ value, owner }) => [
    ...closeNote(owner, indent),
    ...owned(itemLines(value, indent, write), owner),
  ]);

const owned = (texts: readonly string[], owner: Carried): Line[] =>
  texts.map((text) => ({ text, owner }));

const closeNote = ({ finding }: Carried, indent: string): Line[] =>
  finding.verdict === 'close'
    ? [{ text: comment(`close: ${describe({ ...finding, verdict: 'exact' })}`, indent) }]
    : [];
