// Counts six habits of syntax that make text hard to read, per 10,000 words of comments, docs, messages and test names.
//   node scripts/voice.mjs           the counts
//   node scripts/voice.mjs --list    every occurrence, with its place
//   node scripts/voice.mjs --check   fails if a count is above its limit
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The limits are what well-read projects reach, measured with the same patterns. */
export const HABITS = [
  {
    name: 'place for condition',
    limit: 2,
    instead: 'if, when',
    pattern:
      /(?<!\b(?:cases?|situations?|director(?:y|ies)|folders?|files?|places?|environments?|scenarios?|projects?|pages?|points?|machines?|lines?|sections?|examples?|know|knows|say|says|see|shows?|tells?|of|about|decides?|matter|from) )\bwhere (?:it|there|an?|the|no|none|nothing|one|they|its|their|this|that|some|something|anything|nobody|somebody|both|all|each|every|another|either|only)\b(?! [\w-]+(?: [\w-]+)? (?:live|lives|run|runs|come|comes|go|goes|start|starts|end|ends|belong|belongs|happened|happens|stood|begins|begin)\b)/gi,
  },
  {
    name: 'clause for a noun',
    limit: 1,
    instead: 'name the thing',
    pattern:
      /(?<!\$)\b(?:whoever|whatever(?! (?:its|their|the|else|a|an|order|times)\b)|(?<!\b(?:see|shows?|says?|say|explains?|exactly|decides?|knows?|about|of|out) )what (?:is|was|are|were|has|had|cannot|could not|can be|could be|must be|may be|comes|came|stays|stayed|remains|belongs|follows))\b(?! (?:new|wrong|missing|left|different|next|in it|this|that)\b)(?![^.\n]{0,60}\?)/gi,
  },
  {
    name: 'passive of saying',
    limit: 1,
    instead: 'reports, lists, warns',
    pattern:
      /\b(?:is|are|was|were|be|been|being) (?:told|said)\b(?! to (?!be\b))|\btold of\b|\bsays so\b|\bsaid so\b/gi,
  },
  {
    name: 'number by "so many"',
    limit: 1,
    instead: 'up to N, maximum',
    pattern:
      /\b(?:(?:at (?:most|least)|after|for|within) )?so (?:many|much|long|often|few)\b(?! (?:that|as)\b)/gi,
  },
  {
    name: 'stock words',
    limit: 4,
    instead: 'separate, next to, after, again, available, is not a',
    pattern:
      /\bof (?:its|their|his|her|our|your|my|one's) own\b|\bbesides?\b|\bbehind (?:it|them|the)\b|\banew\b|\bfor good\b|\bat hand\b|(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|way\b|worse\b|better\b|higher\b|lower\b)[a-z]+|\b(?:one|two) an? (?:line|query|test|file|run|call|case|record|trace|step)\b/gi,
  },
  {
    name: 'joined half-sentences',
    limit: 15,
    // A message names a problem and its consequence, often in one line.
    messages: 35,
    instead: 'two sentences',
    pattern: /[a-z`)"]; [a-z]/g,
  },
];

/** Read by models, not by people; other words would throw away stored verdicts. */
const PROMPTS =
  /judge\/src\/(?:prompt|task)\.ts|judge\/src\/rubrics\/|metrics\/src\/quality\/model-method\.ts|run\/src\/run\/(?:user-audit|model-user)\.ts/;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .split('\n')
  .filter(
    (name) =>
      !/(?:^|\/)(?:fixtures|recordings|vectors|bad-specs|repos|LICENSE)|\.gen\.ts$/.test(name),
  )
  .filter((name) => existsSync(join(root, name)));

/** Texts by kind: `{ kind, file, line, text }`. */
export function* texts() {
  for (const file of files) {
    if (/\.md$/.test(file)) yield* docTexts(file);
    else if (/\.(?:ts|tsx|mjs|cjs)$/.test(file)) yield* sourceTexts(file);
  }
}

function* docTexts(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const prose = text
    .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => '`'.repeat(code.length));
  let at = 1;
  for (const paragraph of prose.split(/(?<=\n)\s*\n/)) {
    if (paragraph.trim() !== '')
      yield { kind: 'docs', file, line: at, text: paragraph.replaceAll('\n', ' ') };
    at += paragraph.split('\n').length;
  }
}

const TEST_CALL = /^(?:test|it|describe)$/;

function* sourceTexts(file) {
  const source = readFileSync(join(root, file), 'utf8');
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const lineAt = (offset) => tree.getLineAndCharacterOfPosition(offset).line + 1;
  yield* comments(file, source, tree, lineAt);
  if (PROMPTS.test(file)) return;
  const isTest = /\.test\.ts$|\/test\//.test(file);
  const found = [];
  const visit = (node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = ts.isTemplateExpression(node)
        ? [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' … ')
        : node.text;
      const kind = kindOf(node, isTest);
      if (kind !== undefined && /[a-z] [a-z]/i.test(text))
        found.push({ kind, file, line: lineAt(node.getStart(tree)), text });
      if (ts.isTemplateExpression(node))
        for (const { expression } of node.templateSpans) visit(expression);
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  yield* found;
}

function kindOf(node, isTest) {
  if (!isTest) return 'messages';
  return isTestName(node) ? 'test names' : undefined;
}

/** The title of a test, or a text of its table under a key that titles use. */
function isTestName(node) {
  const parent = node.parent;
  if (ts.isCallExpression(parent) && parent.arguments[0] === node) {
    let callee = parent.expression;
    while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee))
      callee = callee.expression;
    return ts.isIdentifier(callee) && TEST_CALL.test(callee.text);
  }
  return (
    ts.isPropertyAssignment(parent) &&
    ts.isIdentifier(parent.name) &&
    /^(?:when|what|name|title|why)$/.test(parent.name.text)
  );
}

function* comments(file, source, tree, lineAt) {
  const seen = new Set();
  let run = [];
  const flush = function* () {
    if (run.length === 0) return;
    const text = run.map(({ text }) => text).join(' ');
    if (!/^\s*(?:biome-|@ts-)/.test(text))
      yield { kind: 'comments', file, line: run[0].line, text };
    run = [];
  };
  const ranges = [];
  const collect = (node) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ])
      if (!seen.has(range.pos)) {
        seen.add(range.pos);
        ranges.push(range);
      }
    node.getChildren(tree).forEach(collect);
  };
  collect(tree);
  for (const { pos, end, kind } of ranges.sort((a, b) => a.pos - b.pos)) {
    const raw = source.slice(pos, end);
    const line = lineAt(pos);
    if (kind === ts.SyntaxKind.SingleLineCommentTrivia) {
      if (run.length > 0 && run.at(-1).line + 1 !== line) yield* flush();
      run.push({ line, text: raw.replace(/^\/\/\s?/, '').trim() });
      continue;
    }
    yield* flush();
    const text = raw
      .replace(/^\/\*\*?|\*\/$/g, '')
      .replace(/^\s*\* ?/gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    yield { kind: 'comments', file, line, text };
  }
  yield* flush();
}

const KINDS = ['comments', 'docs', 'messages', 'test names'];

function measure() {
  const words = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  const hits = [];
  for (const { kind, file, line, text } of texts()) {
    words[kind] += text.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length;
    const prose = text.replace(/`[^`]*`/g, '`').replace(/"[^"]*"/g, '""');
    for (const { name, pattern } of HABITS)
      for (const match of prose.matchAll(pattern))
        hits.push({
          kind,
          file,
          line,
          name,
          text: match[0],
          at: prose.slice(Math.max(0, match.index - 40), match.index + 60),
        });
  }
  return { words, hits };
}

function main() {
  const { words, hits } = measure();
  const rate = (name, kind) =>
    (10_000 * hits.filter((hit) => hit.name === name && hit.kind === kind).length) /
    Math.max(1, words[kind]);
  if (process.argv.includes('--list'))
    for (const { kind, file, line, name, at } of hits)
      console.log(`${file}:${line} [${kind}] ${name}: …${at}…`);
  console.log(
    `${'per 10,000 words'.padEnd(24)}${KINDS.map((kind) => kind.padStart(12)).join('')}${'limit'.padStart(8)}`,
  );
  const above = [];
  for (const { name, limit, messages = limit } of HABITS) {
    const rates = KINDS.map((kind) => rate(name, kind));
    console.log(
      `${name.padEnd(24)}${rates.map((value) => value.toFixed(1).padStart(12)).join('')}${String(limit).padStart(8)}`,
    );
    for (const [at, value] of rates.entries())
      if (value > (KINDS[at] === 'messages' ? messages : limit))
        above.push(`${name} in ${KINDS[at]}`);
  }
  console.log(
    `${'words'.padEnd(24)}${KINDS.map((kind) => String(words[kind]).padStart(12)).join('')}`,
  );
  if (!process.argv.includes('--check') || above.length === 0) return;
  console.error(
    `above the limit: ${above.join(', ')}; see them with: node scripts/voice.mjs --list`,
  );
  process.exitCode = 1;
}

main();
