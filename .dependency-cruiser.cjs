// scripts/tiers.cjs is the tier list of ARCHITECTURE.md: a folder imports only from tiers before its own.
const tiers = require('./scripts/tiers.cjs');
const src = '^packages/agentci/src/';
const dir = (names) => `${src}(${names.join('|')})/`;
const tests = '\\.test\\.ts$';
// Hashing, the time-limited regular-expression sandbox, the lazy loading of an engine and the parsing of addresses are
// computations, not effects.
const pureBuiltins = '^(node:)?(buffer|crypto|vm|util|module|url|net)$';
const pure = [
  'kit',
  'trace',
  'stats',
  'results',
  'metrics',
  'policy',
  'layers',
  'experiment',
  'reporters',
  'baseline',
];

module.exports = {
  forbidden: [
    ...tiers.map((tier, i) => ({
      name: `${tier.join('+')}-look-down-only`,
      severity: 'error',
      from: { path: `${src}(${tier.join('|')})/`, pathNot: tests },
      to: { path: dir(tiers.slice(i).flat()), pathNot: `${src}$1/` },
    })),
    {
      name: 'one-kind-of-schema',
      severity: 'error',
      comment:
        'Write schemas with kit/value-schema. Zod belongs to the tests, which hold ours against it, and to model SDKs.',
      from: { path: src, pathNot: [tests] },
      to: { path: '(^|/)zod(/|$)' },
    },
    {
      name: 'formats-know-no-reader',
      severity: 'error',
      comment:
        'A format gets records and returns traces; how files are opened and told apart is the business of adapters/reader.',
      from: { path: `${src}adapters/(formats|otel|build|containers)/`, pathNot: tests },
      to: { path: `${src}adapters/reader/` },
    },
    {
      name: 'builder-knows-no-format',
      severity: 'error',
      comment:
        'What one format needs lives in its folder; adapters/build holds what all formats share.',
      from: { path: `${src}adapters/(build|containers)/`, pathNot: tests },
      to: { path: `${src}adapters/(formats|otel)/` },
    },
    {
      name: 'engine-renders-nothing',
      severity: 'error',
      comment:
        'The engine ends with a RunResult; what it looks like is decided above it (reporting, cli).',
      from: { path: dir(['engine']), pathNot: tests },
      to: { path: dir(['reporters']) },
    },
    {
      name: 'engine-runs-no-models-of-its-own',
      severity: 'error',
      comment:
        'Models on this machine are loaded only when a metric asks for them: import local-models on demand.',
      from: { path: dir(['engine']), pathNot: tests },
      to: { path: dir(['local-models']), dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'baseline-compares-verdicts',
      severity: 'error',
      comment:
        'Comparison takes verdicts as data; evaluating checks is the business of the engine (engine/diff-traces).',
      from: { path: dir(['baseline']), pathNot: tests },
      to: { path: dir(['layers']) },
    },
    {
      name: 'rooms-below-the-command-line-print-nothing',
      severity: 'error',
      comment:
        'Imports, experiments and reports are library functions: they take options and return data.',
      from: { path: dir(['experimenting', 'importing', 'reporting']), pathNot: tests },
      to: { path: '(^|/)(commander|picocolors)(/|$)' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'pure-folders-do-no-io',
      severity: 'error',
      comment:
        'Take data in, return data; effects live in adapters/reader, judge, runners, store, spec, engine and cli.',
      from: { path: dir(pure), pathNot: tests },
      to: { dependencyTypes: ['core'], pathNot: pureBuiltins },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // What the build writes is not ours to order.
    exclude: { path: [tests, '/dist/'] },
  },
};
