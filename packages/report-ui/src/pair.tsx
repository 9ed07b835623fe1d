import { comparedQuery } from '@agentci/reporters/shared';
import type { PageBeforeQuery } from '@agentci/results';
import { useEffect, useState } from 'preact/hooks';
import { TextDiff } from './answer.tsx';
import { count, ms, usd } from './format.ts';
import { queryHref } from './router.ts';
import type { Side, Sides } from './sides.ts';
import { evidenceOf, fetchResult } from './source.ts';
import { Status } from './status.tsx';
import { ToolDiff } from './tool-diff.tsx';
import { visible } from './visible-text.ts';

/**
 * One query on both sides: verdicts and numbers side by side, then differences in the answer and
 * the tool calls.
 */
export function Pair({ sides, id }: { sides: Sides; id: string }) {
  const was = useQuery(sides.before, id);
  const is = useQuery(sides.after, id);
  return (
    <div class="pair">
      <div class="columns half">
        <SideFacts side={sides.before} query={was} id={id} word="before" />
        <SideFacts side={sides.after} query={is} id={id} word="after" />
      </div>
      <p class="subhead">Answer</p>
      <Answers before={was?.answer} after={is?.answer} />
      <p class="subhead">Tools</p>
      <Tools sides={sides} id={id} />
    </div>
  );
}

/** A query of a side. For a large run, its answer is loaded on demand and unknown until then. */
function useQuery(side: Side, id: string): PageBeforeQuery | undefined {
  const [whole, setWhole] = useState<PageBeforeQuery | undefined>(undefined);
  const isSlim = side.isSlim(id);
  useEffect(() => {
    setWhole(undefined);
    if (!isSlim) return;
    let isOver = false;
    void fetchResult(side.runId, side.caseOf(id))
      .then((found) => found && !isOver && setWhole(comparedQuery(found)))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [side, id]);
  return whole ?? side.queries.get(id);
}

function SideFacts({
  side,
  query,
  id,
  word,
}: {
  side: Side;
  query: PageBeforeQuery | undefined;
  id: string;
  word: string;
}) {
  return (
    <div class="side">
      <p class="sub">
        {word}:{' '}
        {side.hasPages ? (
          <a href={queryHref(side.caseOf(id))}>{visible(side.name)}</a>
        ) : (
          visible(side.name)
        )}
      </p>
      {query === undefined ? (
        <p class="empty">not in it</p>
      ) : (
        <>
          <p class="facts">
            <Status status={query.status} />
            <span class="nowrap">cost {usd(query.cost_usd)}</span>
            <span class="nowrap">tokens {count(query.total_tokens)}</span>
            <span class="nowrap">latency {ms(query.latency_ms)}</span>
            {query.runs && <span class="nowrap">{meanText(query)}</span>}
          </p>
          {query.reason !== undefined && <p class="finding">{visible(query.reason)}</p>}
        </>
      )}
    </div>
  );
}

/** Explains that numbers are means, if there are several repeats. */
export const meanText = ({ runs = [] }: PageBeforeQuery): string =>
  runs.length > 1 ? `mean of ${runs.length} runs` : '';

function Answers({
  before,
  after,
}: {
  before: string | null | undefined;
  after: string | null | undefined;
}) {
  if (typeof before === 'string' && typeof after === 'string')
    return before === after ? (
      <>
        <p class="empty">The same on both sides.</p>
        <pre class="answer" tabIndex={0}>
          {visible(after)}
        </pre>
      </>
    ) : (
      <TextDiff before={before} after={after} />
    );
  const only = typeof after === 'string' ? after : before;
  return (
    <>
      <p class="empty">
        {typeof only === 'string' ? 'Only one side has an answer.' : 'Neither side has an answer.'}
      </p>
      {typeof only === 'string' && (
        <pre class="answer" tabIndex={0}>
          {visible(only)}
        </pre>
      )}
    </>
  );
}

/** Undefined: still unknown. `absent`: the page has no recording. */
type Called = readonly string[] | null | 'absent' | undefined;

function Tools({ sides, id }: { sides: Sides; id: string }) {
  const before = useTools(sides.before, id);
  const after = useTools(sides.after, id);
  if (before === undefined || after === undefined) return <p class="empty">Loading…</p>;
  const why = (called: Called, { name }: Side): string[] => {
    if (called === 'absent') return [`The page has no recording of ${name}.`];
    if (called === null) return [`Tool calls were not captured in ${name}.`];
    return [];
  };
  const missing = [...why(before, sides.before), ...why(after, sides.after)];
  if (!Array.isArray(before) || !Array.isArray(after))
    return <p class="empty">{visible(missing.join(' '))}</p>;
  return (
    <ToolDiff
      before={{ name: sides.before.name, tools: before }}
      after={{ name: sides.after.name, tools: after }}
    />
  );
}

function useTools(side: Side, id: string): Called {
  const known = side.queries.get(id)?.tools;
  const [called, setCalled] = useState<Called>(known);
  useEffect(() => {
    if (known !== undefined) return setCalled(known);
    let isOver = false;
    void evidenceOf(side.runId, side.caseOf(id))
      .catch(() => undefined)
      .then((evidence) => {
        const trace = evidence?.traces[evidence.shown];
        if (!isOver) setCalled(trace === undefined ? 'absent' : trace.tools);
      });
    return () => {
      isOver = true;
    };
  }, [side, id]);
  return called;
}
