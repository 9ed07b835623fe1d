// scripts/tiers.cjs is the tier list of ARCHITECTURE.md: a package imports only from tiers before its own.
const tiers = require('./scripts/tiers.cjs');
const packages = (names) => `^packages/(${names.join('|')})/src/`;
const tests = '\\.test\\.ts$';
// Hashing, the time-limited regular-expression sandbox, the lazy loading of an engine and the parsing of addresses are
// computations, not effects.
const pureBuiltins = '^(node:)?(buffer|crypto|vm|util|module|url|net)$';
const pure =
  '^packages/((trace|stats|results|metrics|policy|checks|reporters)/src|lib/src/(yaml|json|regex|text|secrets|values|numbers|data|csv|cel)|lab/src/(experiment/report|experiment/plots)|run/src/baseline)/';

module.exports = {
  forbidden: [
    ...tiers.map((tier, i) => ({
      name: `${tier.join('+')}-look-down-only`,
      severity: 'error',
      from: { path: packages(tier), pathNot: tests },
      to: { path: packages(tiers.slice(i).flat()), pathNot: '^packages/$1/' },
    })),
    {
      name: 'no-way-around-a-door',
      severity: 'error',
      comment: "Packages import each other by name: '@agentci/trace', not by a path.",
      from: { path: '^packages/([^/]+)/(src|test)/' },
      to: { path: '^packages/[^/]+/src/', pathNot: '^packages/$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'one-kind-of-schema',
      severity: 'error',
      comment:
        'Write schemas with @agentci/lib/values. Zod belongs to the tests, which hold ours against it, and to model SDKs.',
      from: { path: packages(tiers.flat()), pathNot: [tests] },
      to: { path: '(^|/)zod(/|$)' },
    },
    {
      name: 'formats-know-no-reader',
      severity: 'error',
      comment:
        'A format gets records and returns traces; how files are opened and told apart is the business of the reader.',
      from: { path: '^packages/formats/src/(formats|otel|build|containers)/', pathNot: tests },
      to: { path: '^packages/formats/src/reader/' },
    },
    {
      name: 'builder-knows-no-format',
      severity: 'error',
      comment: 'What one format needs lives in its folder; build holds what all formats share.',
      from: { path: '^packages/formats/src/(build|containers)/', pathNot: tests },
      to: { path: '^packages/formats/src/(formats|otel)/' },
    },
    {
      name: 'run-loads-models-on-demand',
      severity: 'error',
      comment: 'Models on this machine are loaded only when a metric asks for them.',
      from: { path: '^packages/run/src/run/', pathNot: tests },
      to: { path: '^packages/run/src/local-models/', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'only-commands-print',
      severity: 'error',
      comment: 'Below the published package, functions take options and return data.',
      from: { path: packages(['run', 'lab', 'spec', 'capture']), pathNot: tests },
      to: { path: '(^|/)(commander|picocolors)(/|$)' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'pure-packages-do-no-io',
      severity: 'error',
      comment:
        'Take data in, return data; effects live in the readers, runners, stores and commands.',
      from: { path: pure, pathNot: tests },
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
