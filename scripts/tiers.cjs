// The rooms of packages/agentci/src, lowest tier first: a room imports only from tiers above its own line in this list.
// dependency-cruiser holds the sources to it, and `npm run gen` draws it into ARCHITECTURE.md.
module.exports = [
  ['kit'],
  ['trace', 'stats'],
  ['results', 'judge'],
  ['metrics', 'policy', 'adapters', 'convert'],
  ['layers', 'experiment', 'reporters'],
  ['baseline', 'mcp'],
  ['runners', 'store', 'capture', 'queue', 'local-models', 'history'],
  ['spec'],
  ['simulator'],
  ['engine'],
  ['experimenting', 'importing', 'lsp', 'merging', 'mutating', 'reporting'],
  ['cli', 'test-frameworks'],
];
