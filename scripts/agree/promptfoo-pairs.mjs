// Assertions and answers to compare: every deterministic type, also negated, and answers that
// differ in case, white space, prefixes, thresholds and astral characters.

const OUTPUTS = [
  'The refund takes 30 days.',
  'the REFUND takes 30 days',
  'The refund  takes\n30 days.',
  ' The refund takes 30 days. ',
  'refund',
  'Refund',
  '{"status": "ok", "days": 30}',
  '{"status": "ok"} trailing',
  '[1, 2, 3]',
  '30',
  'a.b or a|b or (x) [y] {{z}} $5 ^ * + ? \\ /',
  'aXb',
  'naïve café Straße İstanbul',
  '😀 one two 😀',
  'one two three four five',
  'line one\nline two\n',
  '"quoted", with a comma',
  'HTTP 404 Not Found\t(tab)',
];

const VALUES = [
  'refund',
  'Refund',
  'The refund takes 30 days.',
  '30 days',
  'a.b',
  'a|b',
  '{{"{{z}}"}}',
  '😀',
  'café',
  'STRASSE',
  '\\',
  '$5',
  'two\nline',
];

const single = [];
for (const type of ['contains', 'icontains', 'starts-with', 'equals'])
  for (const value of VALUES) if (!value.includes('{{')) single.push({ type, value });
for (const type of ['contains-any', 'contains-all', 'icontains-any', 'icontains-all'])
  for (const value of [
    ['refund', '30'],
    ['REFUND', 'one'],
    ['a.b', 'a|b'],
    'refund, 30 days',
    '"quoted", comma',
    ['x y z', 'café'],
  ])
    single.push({ type, value });
for (const value of [
  '^The',
  'days\\.?$',
  '\\d+',
  '[A-Z]{4}',
  'a.*b',
  'refund|Refund',
  '^\\s*\\S+\\s*$',
  '(one|two) (two|three)',
  '\\bone\\b',
  'line one\\nline two',
  '^[^ ]+$',
  '(?=.*30)(?=.*refund)',
  '(\\w)\\1',
  '^.{5}$',
  '\\u{1F600}',
  '(?i)refund',
  '\\Arefund',
])
  single.push({ type: 'regex', value });
single.push({ type: 'is-json' }, { type: 'contains-json' });
for (const value of [
  { type: 'object', required: ['status'] },
  { type: 'object', properties: { days: { type: 'integer', minimum: 31 } }, required: ['days'] },
  { type: 'array', items: { type: 'number' } },
  { type: 'array', items: [{ type: 'string' }] },
  { type: 'object', additionalProperties: false, properties: { status: { enum: ['ok'] } } },
  {},
])
  single.push({ type: 'is-json', value });
single.push(
  { type: 'equals', value: { status: 'ok', days: 30 } },
  { type: 'equals', value: [1, 2, 3] },
  { type: 'equals', value: 30 },
);
for (const value of [5, { min: 2 }, { max: 4 }, { min: 3, max: 6 }, '6'])
  single.push({ type: 'word-count', value });

const both = single.flatMap((one) => [one, { ...one, type: `not-${one.type}` }]);

const c = (value, weight) => ({
  type: 'contains',
  value,
  ...(weight === undefined ? {} : { weight }),
});
const SETS = [
  [{ type: 'assert-set', assert: [c('refund'), c('30')] }],
  [{ type: 'assert-set', threshold: 0.5, assert: [c('refund'), c('30')] }],
  [
    {
      type: 'assert-set',
      threshold: 0.5,
      assert: [c('refund'), c('30'), { type: 'not-contains', value: 'one' }],
    },
  ],
  [{ type: 'assert-set', threshold: 0.75, assert: [c('refund', 3), c('30'), c('The')] }],
  [{ type: 'assert-set', threshold: 1, assert: [c('refund'), { type: 'regex', value: '\\.$' }] }],
  [c('refund', 0), c('The')],
  [{ type: 'assert-set', threshold: 0.3, assert: [c('a', 0.1), c('b', 0.2), c('30', 0.7)] }],
  [
    { type: 'assert-set', threshold: 0.5, assert: [c('one'), c('two'), c('three'), c('30')] },
    c('e'),
  ],
];
const THRESHOLDS = [
  { threshold: 0.5, assert: [c('refund'), c('30')] },
  {
    threshold: 0.6,
    assert: [c('refund', 2), c('30', 1), { type: 'icontains', value: 'THE', weight: 1 }],
  },
  { threshold: 0.67, assert: [c('refund'), c('30'), c('The')] },
];

/** Every pair: a promptfoo test with its canned output. */
export function pairs() {
  const tests = [
    ...both.map((assertion) => ({ assert: [assertion] })),
    ...SETS.map((assert) => ({ assert })),
    ...THRESHOLDS,
  ];
  return tests.flatMap((test, i) =>
    OUTPUTS.map((output, j) => ({ id: `t${i}-o${j}`, output, ...test })),
  );
}
