export { type MutateOptions, mutateSuite } from './mutate-suite.ts';
export { OPERATORS } from './operators/index.gen.ts';
export { renderConsole } from './report/console.ts';
export { renderHtml } from './report/html.ts';
export { renderMarkdown } from './report/markdown.ts';
