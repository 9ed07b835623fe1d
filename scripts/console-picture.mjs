// Renders the demo's console report as docs/screenshots/console-{light,dark}.svg for the README.
//   node scripts/console-picture.mjs
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const COMMAND = 'agentci test --tags story';

const THEMES = {
  light: {
    page: '#ffffff',
    frame: '#d0d7de',
    text: '#1f2328',
    31: '#cf222e',
    32: '#1a7f37',
    33: '#9a6700',
    36: '#1b7c83',
    dim: '#656d76',
  },
  dark: {
    page: '#0d1117',
    frame: '#30363d',
    text: '#e6edf3',
    31: '#ff7b72',
    32: '#3fb950',
    33: '#d29922',
    36: '#39c5cf',
    dim: '#8b949e',
  },
};
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
const CHARACTER = 7.4;
const LINE = 18;
const COLUMNS = 124;

const { stdout } = spawnSync(
  process.execPath,
  [
    join(root, 'packages/agentci/dist/cli.mjs'),
    'test',
    '-t',
    'story',
    '-w',
    '1',
    '--judge',
    'recorded',
  ],
  {
    cwd: join(root, 'demos/rag'),
    encoding: 'utf8',
    env: { ...process.env, RAG_PROMPT: 'v1-broken', FORCE_COLOR: '1', GITHUB_ACTIONS: '', CI: '' },
  },
);
const lines = [`$ ${COMMAND}`, '', ...stdout.trimEnd().split('\n')];

for (const [name, theme] of Object.entries(THEMES)) {
  const height = lines.length * LINE + 32;
  const width = Math.round(COLUMNS * CHARACTER + 32);
  const rows = lines.map((line, at) => row(line, 28 + at * LINE, theme)).join('\n');
  writeFileSync(
    join(root, 'docs', 'screenshots', `console-${name}.svg`),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}" font-size="12.3">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.page}" stroke="${theme.frame}"/>
${rows}
</svg>
`,
  );
}
console.log('wrote docs/screenshots/console-light.svg and console-dark.svg');

function row(line, y, theme) {
  let fill = theme.text;
  let weight = '';
  let column = 0;
  const spans = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: splits at colour sequences.
  for (const part of line.split(/(\x1b\[\d+(?:;\d+)*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: reads colour sequences.
    const codes = /^\x1b\[([\d;]+)m$/.exec(part)?.[1]?.split(';');
    if (codes === undefined) {
      const text = part.slice(0, Math.max(0, COLUMNS - column));
      if (text.trim() !== '')
        spans.push(
          `<tspan x="${(16 + column * CHARACTER).toFixed(1)}" fill="${fill}"${weight}>${escapeXml(text)}</tspan>`,
        );
      column += part.length;
      continue;
    }
    for (const code of codes) {
      if (code === '1') weight = ' font-weight="600"';
      else if (code === '2') fill = theme.dim;
      else if (code === '0' || code === '22' || code === '39') {
        fill = theme.text;
        weight = code === '39' ? weight : '';
      } else if (theme[code] !== undefined) fill = theme[code];
    }
  }
  return `<text y="${y}" xml:space="preserve">${spans.join('')}</text>`;
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
