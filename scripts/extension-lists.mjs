// Generates lists and pages of extensions in the documentation from their sources.
const LAYERS = ['correctness', 'path', 'cost'];
const SECTIONS = [...LAYERS, 'every'];

/** Marks a generated page. Pages without it are not overwritten. */
export const PAGE_MARK =
  '<!-- written by npm run gen; remove this line to write the page by hand -->';

const isSetting = (check) => check.setting === true;
const layersOf = ({ layer }) => (layer === 'every' ? LAYERS : [layer]);
const idsOf = (check) =>
  layersOf(check)
    .map((layer) => `\`${layer}.${check.key}\``)
    .join(', ');
const lower = (text) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
const byOrder = (a, b) => a.order - b.order || a.key.localeCompare(b.key);
const of = (checks, section) => checks.filter(({ layer }) => layer === section).sort(byOrder);

/** A check in a spec. JSON is YAML, so any value fits on its line. */
const inSpec = (check) => `${check.key}: ${JSON.stringify(check.example)}`;

/** The generated page of a check. */
export function checkPage(check) {
  const violation = isSetting(check)
    ? 'nothing: it gives no verdict of its own'
    : `\`${check.severity}\`. ${check.failure.why}; ${check.failure.help}`;
  return `# ${check.key}

${PAGE_MARK}

${idsOf(check)}: ${lower(check.summary)}

\`\`\`yaml
version: 1
agent: my-agent
queries:
  - query: How do I get a refund?
${layersOf(check)
  .map((layer) => `    ${layer}:\n      ${inSpec(check)}\n`)
  .join('')}\`\`\`

- **When violated**: ${violation}.
`;
}

/** The tables of `docs/checks/README.md`. */
export function withCheckTables(text, checks) {
  return SECTIONS.reduce(
    (page, section) =>
      withRegion(page, `checks of ${section}`, [
        '| key | asserts |',
        '|---|---|',
        ...of(checks, section).map(({ key, summary, setting }) => {
          const end = setting ? ' A setting, not a check.' : '';
          return `| [${key}](${key}.md) | ${lower(summary)}${end} |`;
        }),
      ]),
    text,
  );
}

/** The tables of `docs/guide/why-did-it-fail.md`, and its sentence about settings. */
export function withFailures(text, checks) {
  const page = SECTIONS.reduce(
    (written, section) =>
      withRegion(written, `failures of ${section}`, [
        '| check | why it fails | what to do |',
        '| --- | --- | --- |',
        ...of(checks, section)
          .filter((check) => !isSetting(check))
          .map((check) => `| ${idsOf(check)} | ${check.failure.why} | ${check.failure.help} |`),
      ]),
    text,
  );
  const settings = SECTIONS.flatMap((section) => of(checks, section)).filter(isSetting);
  return withRegion(
    page,
    'settings',
    settings.map((setting) => `- ${idsOf(setting)}`),
  );
}

/** Adds a query with the checks missing in the sample spec. */
export function withMissingChecks(text, checks) {
  const written = withRegion(text, 'checks that no query above has', []);
  const blocks = LAYERS.map((layer) => [
    layer,
    checks
      .filter((check) => layersOf(check).includes(layer))
      .filter(({ key }) => !new RegExp(`^ +${key}:`, 'm').test(written))
      .sort(byOrder),
  ]).filter(([, missing]) => missing.length > 0);
  if (blocks.length === 0) return written;
  return withRegion(text, 'checks that no query above has', [
    '  - id: more-checks',
    '    query: How do I get a refund?',
    ...blocks.flatMap(([layer, missing]) => [
      `    ${layer}:`,
      ...missing.map((check) => `      ${inSpec(check)}    # ${lower(check.summary)}`),
    ]),
  ]);
}

/** The generated page of a metric. */
export function metricPage(metric) {
  const { name, summary, layer, unit, better, needs, params } = metric;
  const keys = Object.keys(params?.().shape ?? {});
  return `# \`${name}\`

${PAGE_MARK}

${sentence(summary)}

Layer **${layer}** · ${unit} · ${better} is better.${needs.length === 0 ? '' : ` Needs ${needs.join(', ')}.`}${
    keys.length === 0 ? '' : `\n\nParameters: ${keys.map((key) => `\`${key}\``).join(', ')}.`
  }

\`\`\`yaml
version: 1
agent: my-agent
queries:
  - query: How do I get a refund?
    metrics:
      ${name}: 0.5
\`\`\`
`;
}

/** The generated page of a report format. */
export const reporterPage = ({ name, summary, extensions: [extension] }) => `# \`${name}\`

${PAGE_MARK}

${sentence(summary)}

\`\`\`sh
agentci test --traces traces.jsonl -f ${name}=results${extension ?? '.txt'}
\`\`\`
`;

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

/** The table of `docs/metrics/README.md`. */
export const withMetricTable = (text, metrics) =>
  withRegion(text, 'metrics', [
    '| metric | layer | unit | what |',
    '|---|---|---|---|',
    ...metrics.map(
      ({ name, layer, unit, summary }) =>
        `| [${name}](${name}.md) | ${layer} | ${unit} | ${sentence(summary).slice(0, -1)} |`,
    ),
  ]);

/** The table of `docs/policies/README.md`. */
export const withRuleTable = (text, rules) =>
  withRegion(text, 'rules', [
    '| rule | says |',
    '| --- | --- |',
    ...rules.map(({ type, summary }) => `| [${type}](${type}.md) | ${sentence(summary)} |`),
  ]);

/** Adds the formats missing in the table of `docs/adapters/README.md`. */
export function withMissingFormats(text, formats) {
  const name = 'formats that the table leaves out';
  const written = withRegion(text, name, []);
  return withRegion(
    text,
    name,
    formats
      .filter(({ format }) => !written.includes(`(${format}.md)`))
      .map(({ format, summary }) => `- [\`${format}\`](${format}.md): ${summary}`),
  );
}

/** Replaces the text between a region's marks. Comment syntax differs between Markdown and YAML. */
function withRegion(text, name, lines) {
  const [begin, end] = text.includes(`<!-- ${name}: `)
    ? [`<!-- ${name}: written by npm run gen -->`, `<!-- end of ${name} -->`]
    : [`# ${name}: written by npm run gen`, `# end of ${name}`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the marks of "${name}" are missing`);
  const isMarkdown = begin.startsWith('<');
  const gap = isMarkdown ? '\n\n' : '\n';
  const body = lines.length === 0 ? '\n' : `${gap}${lines.join('\n')}${gap}`;
  return `${text.slice(0, from + begin.length)}${body}${text.slice(to)}`;
}
