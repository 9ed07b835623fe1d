export { renderComparisonConsole, renderDiffConsole } from './diff/console.ts';
export { renderComparisonGithub, renderDiffGithub } from './diff/github.ts';
export { renderComparisonMarkdown, renderDiffMarkdown } from './diff/markdown.ts';
export { groupCount } from './failure-lines.ts';
export { comparedQuery, pageBefore } from './html/page-before.ts';
export { pageTrace } from './html/page-trace.ts';
export { REPORTERS } from './index.gen.ts';
export { namesIn } from './notify/fill-template.ts';
export { EMPTY_NOTICE, statusWord } from './notify/notice.ts';
export {
  type NotifyContext,
  type Report,
  type ReportContext,
  type Reporter,
  reportPieces,
  reportText,
} from './reporter.ts';
export { countLine, exitLine } from './verdict-line.ts';
