// The packages, lowest tier first: a package imports only from earlier tiers in this list.
// dependency-cruiser enforces it, and `npm run gen` draws it into docs/design/packages.md.
module.exports = [
  ['lib'],
  ['trace', 'stats'],
  ['results', 'judge'],
  ['metrics', 'policy', 'formats', 'convert'],
  ['checks', 'reporters', 'mcp'],
  ['capture'],
  ['spec'],
  ['run'],
  ['lab'],
  ['agentci'],
];
