/** An assertion in the format of a promptfoo config. */
export interface Assertion {
  readonly type: string;
  readonly value?: unknown;
  readonly threshold?: unknown;
  readonly weight?: unknown;
  readonly [key: string]: unknown;
}

const LISTS = new Set(['contains-all', 'contains-any', 'icontains-all', 'icontains-any']);
const UNTRIMMED = new Set(['is-json', 'contains-json']);
/**
 * Types with an optional threshold in parentheses. Default: 0.8 for `similar`, 0.75 for the others.
 */
const GRADED = new Set([
  ...[
    'answer-relevance',
    'classifier',
    'context-faithfulness',
    'context-recall',
    'context-relevance',
    'cost',
    'latency',
  ],
  ...['levenshtein', 'perplexity-score', 'perplexity', 'rouge-n', 'similar', 'starts-with'],
]);
const OTHERS = [
  ...[
    'bleu',
    'contains',
    'contains-html',
    'contains-sql',
    'contains-xml',
    'conversation-relevance',
    'equals',
  ],
  ...[
    'factuality',
    'finish-reason',
    'g-eval',
    'gleu',
    'guardrails',
    'icontains',
    'is-html',
    'is-refusal',
    'is-sql',
  ],
  ...[
    'is-valid-function-call',
    'is-valid-openai-function-call',
    'is-valid-openai-tools-call',
    'is-xml',
    'javascript',
  ],
  ...[
    'llm-rubric',
    'meteor',
    'model-graded-closedqa',
    'model-graded-factuality',
    'moderation',
    'pi',
    'python',
  ],
  ...[
    'regex',
    'ruby',
    'search-rubric',
    'agent-rubric',
    'skill-used',
    'similar:cosine',
    'similar:dot',
  ],
  ...['similar:euclidean', 'tool-call-f1', 'trajectory:goal-success', 'trajectory:tool-args-match'],
  ...[
    'trajectory:step-count',
    'trajectory:tool-sequence',
    'trajectory:tool-used',
    'trace-error-spans',
  ],
  ...[
    'trace-span-count',
    'trace-span-duration',
    'webhook',
    'word-count',
    'select-best',
    'max-score',
    'human',
  ],
];
const TYPES = [...LISTS, ...UNTRIMMED, ...GRADED, ...OTHERS].sort((a, b) => b.length - a.length);
const FORM = new RegExp(
  `^(not-)?(${TYPES.join('|')})(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([\\s\\S]*))?$`,
);

/** Reads the short form in CSV cells: `contains: x`, `similar(0.8): y`, or the expected text. */
export function readAssertionText(written: string): Assertion {
  for (const prefix of ['javascript:', 'fn:', 'eval:'])
    if (written.startsWith(prefix))
      return { type: 'javascript', value: written.slice(prefix.length).trim() };
  if (/^file:\/\/.*\.(?:[cm]?[jt]s)(?::|$)/.test(written))
    return { type: 'javascript', value: written };
  for (const prefix of ['grade:', 'llm-rubric:'])
    if (written.startsWith(prefix))
      return { type: 'llm-rubric', value: written.slice(prefix.length) };
  if (written.startsWith('python:') || /^file:\/\/.*\.py(?::|$)/.test(written))
    return { type: 'python', value: written };
  const found = FORM.exec(written);
  if (found === null) return { type: 'equals', value: written };
  const [, not = '', base = '', threshold, value] = found;
  const type = `${not}${base}`;
  if (LISTS.has(base)) return { type, value: value ? splitList(value) : value };
  if (UNTRIMMED.has(base)) return { type, value };
  const trimmed = value === undefined ? {} : { value: value.trim() };
  if (GRADED.has(base))
    return {
      type,
      ...trimmed,
      threshold: Number(threshold ?? (base === 'similar' ? 0.8 : 0.75)),
    };
  return { type, ...trimmed };
}

/**
 * Splits a list at commas, with quotes around items that contain one. Undefined if a quote is not
 * closed.
 */
export function splitList(text: string): readonly string[] | undefined {
  const items: string[] = [];
  let at = 0;
  while (at < text.length) {
    while (at < text.length && /[\s,]/.test(text[at]!)) at++;
    if (at >= text.length) break;
    if (text[at] !== '"') {
      const end = text.indexOf(',', at);
      items.push(text.slice(at, end === -1 ? text.length : end).trim());
      at = end === -1 ? text.length : end;
      continue;
    }
    let item = '';
    for (at++; ; at++) {
      if (at >= text.length) return undefined;
      if (
        (text[at] === '\\' && /["\\]/.test(text[at + 1] ?? '')) ||
        (text[at] === '"' && text[at + 1] === '"')
      )
        item += text[++at];
      else if (text[at] === '"') break;
      else item += text[at];
    }
    items.push(item);
    at++;
    while (at < text.length && /\s/.test(text[at]!)) at++;
    if (at < text.length && text[at] !== ',') return undefined;
  }
  return items;
}
