import { formatMeasure } from '@agentci/lib/numbers';
import type { PageBefore, PageEvidence } from '@agentci/results';
import { caseText, LAYERS, type QueryResult, type RunResult, shownRunText } from '@agentci/results';
import { useEffect, useState } from 'preact/hooks';
import { Answer } from './answer.tsx';
import { CheckTable } from './check-table.tsx';
import { ConversationView } from './conversation.tsx';
import { CopyButton } from './copy-button.tsx';
import { usageOf } from './filters.ts';
import { count, ms, usd } from './format.ts';
import { issueText } from './issue-text.ts';
import { JudgeReplies } from './judge-replies.tsx';
import { useKeys } from './keys.ts';
import { meanText } from './pair.tsx';
import { Repeats } from './repeats.tsx';
import { permalinkHash, queryHref, runPairHref } from './router.ts';
import { commandOf, data, evidenceOf, fetchResult } from './source.ts';
import { Status } from './status.tsx';
import { Timeline } from './timeline.tsx';
import { ToolSequence } from './tool-sequence.tsx';
import { DecidedBy, WantedList } from './verdict.tsx';
import { valueText, visible } from './visible-text.ts';

/**
 * One query: question, answer, expectation and decisive checks first, then the agent's steps, then
 * all other data.
 */
export function QueryPage({
  run,
  result: given,
  siblings,
  before,
}: {
  run: RunResult;
  result: QueryResult;
  siblings: readonly QueryResult[];
  before: PageBefore | undefined;
}) {
  const { result, isPart } = useWhole(run.run_id, given);
  const evidence = useEvidence(run.run_id, result);
  const at = siblings.findIndex((each) => caseText(each) === caseText(result));
  const next = siblings[at + 1];
  const previous = at > 0 ? siblings[at - 1] : undefined;
  const earlier = before?.queries.find(([name]) => name === caseText(result))?.[1];

  useEffect(() => scrollTo(0, 0), []);
  const go = (target: QueryResult | undefined) => () => {
    if (target) location.hash = queryHref(caseText(target));
  };
  useKeys(
    {
      n: go(next),
      p: go(previous),
      Escape: () => {
        location.hash = '#/';
      },
    },
    [next, previous],
  );

  const usage = usageOf(result);
  const mean = (result.runs?.length ?? 1) > 1 ? ' per run' : '';
  const facts: [string, string][] = [
    [`cost${mean}`, usd(usage.cost_usd)],
    [`tokens${mean}`, count(usage.total_tokens)],
    [`latency${mean}`, ms(usage.latency_ms)],
  ];
  const { location: where } = result;
  const shownRun = shownRunText(result);
  const references = [
    evidence?.baseline?.answer && {
      name: `baseline ${evidence.baseline.version}`,
      text: evidence.baseline.answer,
    },
    earlier?.answer && { name: before!.name ?? `run ${before!.run_id}`, text: earlier.answer },
  ].filter((reference) => typeof reference === 'object' && reference !== null);
  return (
    <article class="query">
      <p class="crumbs">
        <a href="#/">← all queries</a>
        <span class="grow" />
        {previous && <a href={queryHref(caseText(previous))}>previous (p)</a>}
        {next && <a href={queryHref(caseText(next))}>next (n)</a>}
      </p>
      <p class="eyebrow">Asked</p>
      <h2>{visible(result.query)}</h2>
      <p class="facts">
        <Status status={result.status} />
        <code>{visible(caseText(result))}</code>
        {where && (
          <span class="where">{visible(`${where.file}:${where.line}:${where.column}`)}</span>
        )}
        {facts.map(([name, value]) => (
          <span class="nowrap" key={name}>
            {name} <strong>{value}</strong>
          </span>
        ))}
        {result.tags.map((tag) => (
          <span class="tag" key={tag}>
            {visible(tag)}
          </span>
        ))}
      </p>
      {shownRun !== undefined && <p class="notice">{shownRun}</p>}
      <p class="actions">
        <CopyButton label="Copy link" text={() => permalink(run, result)} />
        <CopyButton
          label="Copy as issue"
          text={() => issueText(run, result, commandOf(run.run_id))}
        />
      </p>
      {result.description && <p class="description">{visible(result.description)}</p>}
      {isPart && <p class="empty">The rest of this query is being read…</p>}
      {!isPart && result.conversation && (
        <ConversationView result={result} conversation={result.conversation} />
      )}
      {!isPart && !result.conversation && <Answer result={result} references={references} />}
      <WantedList result={result} />
      <DecidedBy result={result} />
      {(result.warnings ?? []).map(({ code, message }) => (
        <p class="notice" key={`${code} ${message}`}>
          Trace: {visible(message)}
        </p>
      ))}
      {earlier && (
        <p class="notice">
          In {visible(before!.name ?? `run ${before!.run_id}`)}: <Status status={earlier.status} />{' '}
          cost {usd(earlier.cost_usd)}, tokens {count(earlier.total_tokens)}, latency{' '}
          {ms(earlier.latency_ms)} {meanText(earlier)}{' '}
          <a href={runPairHref(before!.run_id, caseText(result))}>side by side</a>
        </p>
      )}
      {evidence && evidence.traces.length > 0 && <Timeline evidence={evidence} />}
      {evidence === null && <p class="empty">The page has no trace of this query.</p>}
      <ToolSequence evidence={evidence} />
      {result.runs && <Repeats result={result} />}
      {LAYERS.map((layer) => (
        <CheckTable key={layer} layer={layer} result={result[layer]} />
      ))}
      <JudgeReplies details={result.correctness.details} />
      <Metrics metrics={result.metrics} />
    </article>
  );
}

const permalink = (run: RunResult, result: QueryResult): string =>
  `${location.href.split('#', 1)[0]}${permalinkHash(caseText(result), data.live ? run.run_id : undefined)}`;

/** Undefined while loading, null if there is none. */
function useEvidence(runId: string, result: QueryResult): PageEvidence | null | undefined {
  const [evidence, setEvidence] = useState<PageEvidence | null | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    evidenceOf(runId, caseText(result))
      .catch(() => undefined)
      .then((found) => {
        if (!isOver) setEvidence(found ?? null);
      });
    return () => {
      isOver = true;
    };
  }, [runId, result]);
  return evidence;
}

function Metrics({ metrics }: { metrics: QueryResult['metrics'] }) {
  const rows = Object.entries(metrics);
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>Metrics</h3>
      <table class="grid cards">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col">Detail</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { value, unit, detail }]) => (
            <tr key={name}>
              <td class="wrap">
                <code>{visible(name)}</code>
              </td>
              <td class="number">
                {value === null ? 'not measured' : visible(formatMeasure(value, unit))}
              </td>
              <td class="wrap">{valueText(detail)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A large run's list only has summaries. The rest of a query is loaded on demand. */
function useWhole(runId: string, result: QueryResult): { result: QueryResult; isPart: boolean } {
  const [whole, setWhole] = useState<QueryResult | undefined>(undefined);
  useEffect(() => {
    if (!('slim' in result)) return;
    let isOver = false;
    void fetchResult(runId, caseText(result))
      .then((found) => found && !isOver && setWhole(found))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [runId, result]);
  if (!('slim' in result)) return { result, isPart: false };
  return { result: whole ?? result, isPart: whole === undefined };
}
