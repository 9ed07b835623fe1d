import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = join(dirname(fileURLToPath(import.meta.url)), '..');
const { version, homepage } = JSON.parse(
  readFileSync(join(docs, '..', 'packages', 'agentci', 'package.json'), 'utf8'),
);
const repository = homepage.replace(/#.*$/, '');

/** The pages of a folder, by the names of their files; its README is the heading. */
function pagesOf(folder) {
  return readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => ({
      text: titleOf(`${folder}/${name}`),
      link: `/${folder}/${name.slice(0, -3)}`,
    }));
}

const titleOf = (path) =>
  /^# (.+)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1].replaceAll('`', '') ?? path;

const folder = (text, name) => ({ text, link: `/${name}/`, collapsed: true, items: pagesOf(name) });

/** The pages on capture by SDK, without the word that they all begin with. */
const captured = () =>
  pagesOf('guide/capture').map((page) => ({ ...page, text: page.text.replace(/^Capture: /, '') }));

/** The pages on other tools, without the words that they all begin with. */
const converted = () =>
  pagesOf('guide/coming-from').map((page) => ({
    ...page,
    text: page.text.replace(/^Coming from /, ''),
  }));

const guides = (names) =>
  names.map((name) => ({ text: titleOf(`guide/${name}.md`), link: `/guide/${name}` }));

/** README.md is the page of its folder; what is not a page of the site is in the repository. */
function siteLink(href, from) {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = posix.normalize(posix.join(posix.dirname(from), path));
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (target.startsWith('..'))
    return `${repository}/blob/main/${target.replace(/^(?:\.\.\/)+/, '')}${hash}`;
  if (!target.endsWith('.md')) return `${repository}/blob/main/docs/${target}${hash}`;
  return href.replace(/README\.md/, '');
}

export default defineConfig({
  title: 'AgentCI',
  description: 'Does the agent still do its job, the right way, at the right price?',
  base: process.env.DOCS_BASE ?? '/',
  cleanUrls: true,
  lastUpdated: false,
  rewrites: (id) => id.replace(/README\.md$/, 'index.md'),
  markdown: {
    config: (md) => {
      // Double braces in code are what a spec says, not an expression of the page.
      const inlineCode = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, i, ...rest) => {
        tokens[i].attrSet('v-pre', '');
        return inlineCode(tokens, i, ...rest);
      };
      md.core.ruler.push('site-links', (state) => {
        for (const { children } of state.tokens)
          for (const token of children ?? []) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null;
            if (href !== null) token.attrSet('href', siteLink(href, state.env.relativePath ?? ''));
          }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/guide/tutorial' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Commands', link: '/cli/' },
      { text: `v${version}`, link: `${repository}/blob/main/CHANGELOG.md` },
    ],
    sidebar: [
      {
        text: 'Start',
        items: guides(['tutorial', 'ci', 'why-did-it-fail', 'could-not-tell']),
      },
      { text: 'Recipes', link: '/recipes/', items: pagesOf('recipes') },
      {
        text: 'Guides',
        items: [
          {
            text: 'Write specs',
            collapsed: true,
            items: guides(['spec', 'rows', 'matrix', 'conversations', 'judge', 'editors']),
          },
          {
            text: 'Run agents',
            collapsed: true,
            items: [
              ...guides(['runners', 'capture']),
              { text: 'Capture by SDK', collapsed: true, items: captured() },
              ...guides(['cassettes', 'watch', 'repeats', 'test-frameworks']),
            ],
          },
          { text: 'Use recordings', collapsed: true, items: guides(['import', 'benchmarks']) },
          {
            text: 'Compare and decide',
            collapsed: true,
            items: guides([
              'baselines',
              'history',
              'view',
              'statistics',
              'experiments',
              'decision-quality',
              'published-study',
              'labels',
              'mutate',
            ]),
          },
          { text: 'Scale', collapsed: true, items: guides(['scale', 'queue', 'grafana']) },
          { text: 'Guard', collapsed: true, items: guides(['guard', 'tap']) },
          {
            text: 'Coming from another tool',
            link: '/guide/coming-from/',
            collapsed: true,
            items: [{ text: 'promptfoo', link: '/guide/from-promptfoo' }, ...converted()],
          },
        ],
      },
      {
        text: 'Reference',
        items: [
          folder('Commands', 'cli'),
          folder('Checks', 'checks'),
          folder('Metrics', 'metrics'),
          folder('Policies', 'policies'),
          folder('Recordings', 'adapters'),
          { text: 'Reports', collapsed: true, items: pagesOf('reporters') },
          ...guides(['library']),
          { text: 'Formulas and thresholds', link: '/metrics_reference' },
          { text: 'Manual testing playbook', link: '/manual_testing_playbook' },
        ],
      },
      folder('Design', 'design'),
    ],
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: `AgentCI ${version} · Apache-2.0` },
  },
});
