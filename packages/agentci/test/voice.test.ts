import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFiles } from '@agentci/testing/source-files';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

// Enforces plain English in text for users. Catches only the worst phrases, the rest is for review.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');

const THINGS =
  'line|query|test|file|sink|run|thread|page|call|case|record|trace|metric|check|item|tool|step|word|process';

/** A phrase to avoid, with its replacement. */
const PATTERNS: readonly { readonly not: RegExp; readonly but: string }[] = [
  {
    not: /(?<!\bthere )\b(?:is|are|was) no (?!longer\b|more\b|less\b|way\b|worse\b|better\b|higher\b|lower\b)\w+/i,
    but: 'is not a …',
  },
  { not: /\bbeing no\b/i, but: 'not a …' },
  { not: /\bstands?\b(?! for\b| in for\b| out\b)/i, but: 'is, appears' },
  { not: /\bbehind the (?:colon|equals|dash|slash|dot|comma|["`'=:])/i, but: 'after the …' },
  {
    not: new RegExp(
      `\\b(?:one|two|three)(?: (?!when|to|if|names|of|in|with|for)\\w+)? an? (?:${THINGS})\\b`,
      'i',
    ),
    but: 'one per line',
  },
  { not: /\d ?(?:ms|µs|s|MB|KB|tokens?|USD) an? \w+/i, but: '0.5 ms per trace' },
  { not: /\b(?:goes|going|go|went) on\b(?! to\b)/i, but: 'continues, in progress, resume' },
  { not: /\b(?:is|are|a) sound\b(?! file| card| effect)/i, but: 'valid, correct' },
  { not: /\bnobody\b/i, but: 'no one; or say what is missing' },
  { not: /\bdearest\b/i, but: 'most expensive' },
  { not: /\b(?:is|are|was|were) asked for\b/i, but: 'minimum, need, expected' },
  { not: /\bat hand\b/i, but: 'available' },
  { not: /\bfurther tries\b/i, but: 'retries' },
  { not: /\bholds? no\b/i, but: 'has no' },
  { not: /\b(?:number|time)s? without end\b/i, but: 'non-finite' },
  { not: /\bsays not\b/i, but: 'does not say' },
  { not: /\bthat plead\b/i, but: 'prompt injection' },
  { not: /\bnone such\b/i, but: 'there is none' },
  { not: /\b1 of 1 \w+s are\b/i, but: 'use the plural helper' },
];

function problemsIn(text: string, where: (offset: number) => string): string[] {
  return PATTERNS.flatMap(({ not, but }) =>
    [...text.matchAll(new RegExp(not, `${not.flags}g`))].map(
      (match) => `${where(match.index)} "${match[0]}": ${but}`,
    ),
  );
}

const lineOf = (text: string, offset: number) => text.slice(0, offset).split('\n').length;

/** Documents without code blocks, and without the repositories that a demo analyzes as data. */
function pages(): string[] {
  const inFolder = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((name) => name.endsWith('.md') && !/node_modules|\.vitepress|\/repos\//.test(name));
  return [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    ...inFolder('docs'),
    ...inFolder('demos'),
  ];
}

test.each(pages())('%s', (name) => {
  const text = readFileSync(join(root, name), 'utf8');
  const prose = text
    .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => '`'.repeat(code.length))
    .replace(/\n(?=[^\n])/g, ' ');
  expect(problemsIn(prose, (offset) => `${name}:${lineOf(text, offset)}`)).toEqual([]);
});

/** Texts of a source file: string literals with a space, without their computed parts. */
function textsOf(file: ts.SourceFile): { text: string; at: number }[] {
  const found: { text: string; at: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node)
    ) {
      if (/\s/.test(node.text))
        found.push({ text: node.text.replace(/`[^`\n]*`/g, '`'), at: node.getStart(file) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Read by models and part of the key of every stored verdict. Changes would invalidate those. */
const PROMPTS = [
  '/judge/src/prompt.ts',
  '/judge/src/task.ts',
  '/judge/src/rubrics/',
  '/metrics/src/quality/model-method.ts',
];

test('messages, help and report pages', () => {
  const problems = sourceFiles()
    .filter((name) => !PROMPTS.some((prompt) => name.includes(prompt)))
    .flatMap((name) => {
      const source = readFileSync(join(root, name), 'utf8');
      const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
      return textsOf(file).flatMap(({ text, at }) =>
        problemsIn(text, () => `${name}:${lineOf(source, at)}`),
      );
    });
  expect(problems).toEqual([]);
});

describe('the list itself', () => {
  test.each([
    'x is no list',
    'the key stands twice',
    'one a line',
    'one test a query',
    '0.5 ms a trace',
    'go on with the run',
    'a sound spec',
    'Nobody knows',
    'at least 1 is asked for',
    'are not at hand',
  ])('finds "%s"', (text) => {
    expect(problemsIn(text, () => '')).not.toEqual([]);
  });

  test.each([
    'there is no file "x"',
    'it is no longer there',
    '`?` stands for any one character',
    'one per line',
    'go on to the next page',
    'a line of one file',
  ])('leaves "%s" alone', (text) => {
    expect(problemsIn(text, () => '')).toEqual([]);
  });
});

/** Comments of a source file, each as one line of prose. */
function commentsOf(text: string): { text: string; at: number }[] {
  return [
    ...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<=^\s*|[;,{}()] )\/\/ .*(?:\n\s*\/\/ .*)*/gm),
  ].map(({ 0: comment, index }) => ({
    text: comment.replace(/`[^`\n]*`/g, '`').replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' '),
    at: index,
  }));
}

test('comments', () => {
  const scripts = ['scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((name) => /\.mjs$/.test(name) && !/bench\/out/.test(name)),
  );
  const problems = [...sourceFiles(), ...scripts].flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    return commentsOf(text).flatMap((comment) =>
      problemsIn(comment.text, () => `${name}:${lineOf(text, comment.at)}`),
    );
  });
  expect(problems).toEqual([]);
});
