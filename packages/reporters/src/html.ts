import { present } from '@agentci/lib/data';
import { jsonInHtml } from '@agentci/lib/text';
import type { QueryResult, RunResult } from '@agentci/results';
import { caseText, PAGE_SCHEMA, type PageData, wholeResult } from '@agentci/results';
import { PAGE } from './html/page.gen.ts';
import { pageBefore } from './html/page-before.ts';
import { clip } from './html/page-trace.ts';
import type { ReportContext, Reporter } from './reporter.ts';

const MAX_ANSWER = 100_000;
const DATA = '<!--agentci-data-->';

export const reporter: Reporter = {
  name: 'html',
  summary: 'one self-contained page with filters, timelines and charts',
  extensions: ['.html'],
  machineReadable: true,
  wantsEvidence: true,
  render: (run, context) => ({ text: renderHtml(run, context) }),
};

/**
 * The page with its data. Each query's evidence is a separate element, parsed only when the query
 * is opened.
 */
function* renderHtml(
  run: RunResult,
  { evidence, before, version, command }: ReportContext,
): Generator<string> {
  const ids = run.results.map(caseText).filter((id) => evidence?.byQuery.has(id));
  const long = run.results.filter(({ answer }) => (answer?.length ?? 0) > MAX_ANSWER).length;
  const notes = present([
    ...(evidence?.notes ?? []),
    long === 0 ? undefined : `${long} long answers are cut after ${MAX_ANSWER} characters`,
  ]);
  const data: PageData = {
    schema: PAGE_SCHEMA,
    version,
    run: { ...run, results: run.results.map(bounded) },
    before: before === undefined ? undefined : pageBefore(before),
    evidence: ids,
    command,
    notes,
  };
  yield* pageWith(data, function* () {
    for (const [index, id] of ids.entries()) {
      yield `\n<script type="application/json" id="evidence-${index}">${jsonInHtml(evidence!.byQuery.get(id))}</script>`;
    }
  });
}

/** The page around its data. `agentci view` serves it without a run. */
export function* pageWith(data: PageData, more?: () => Generator<string>): Generator<string> {
  const at = PAGE.indexOf(DATA);
  yield PAGE.slice(0, at);
  yield `<script type="application/json" id="agentci-data">${jsonInHtml(data)}</script>`;
  if (more !== undefined) yield* more();
  yield PAGE.slice(at + DATA.length);
}

const bounded = (result: QueryResult): QueryResult =>
  (result.answer?.length ?? 0) <= MAX_ANSWER &&
  !result.runs?.some(({ answer }) => (answer?.length ?? 0) > MAX_ANSWER)
    ? result
    : {
        ...wholeResult(result),
        answer: result.answer === null ? null : clip(result.answer, MAX_ANSWER),
        runs: result.runs?.map((one) =>
          typeof one.answer === 'string' ? { ...one, answer: clip(one.answer, MAX_ANSWER) } : one,
        ),
      };
