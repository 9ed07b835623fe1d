import { answerMarks } from '@agentci/reporters/shared';
import type { CheckResult, ConversationResult, QueryResult, TurnResult } from '@agentci/results';
import { foldTurns } from './fold-turns.ts';
import { ms, plural } from './format.ts';
import { MarkedText } from './marked-text.tsx';
import { Status } from './status.tsx';
import { collapseNames } from './step-groups.ts';
import { visible } from './visible-text.ts';

/** A conversation with its speakers, the tool calls, and the findings per turn. */
export function ConversationView({
  result,
  conversation,
}: {
  result: QueryResult;
  conversation: ConversationResult;
}) {
  const { turns, ending, blame } = conversation;
  const checks = [result.correctness, result.path, result.cost].flatMap((layer) => layer.checks);
  const show = (turn: TurnResult) => (
    <Turn key={turn.turn} turn={turn} result={result} findings={findingsOn(turn, checks)} />
  );
  const isOfNote = (turn: TurnResult): boolean =>
    (turn.status !== 'pass' && turn.status !== 'skip') ||
    (turn.failed_tools?.length ?? 0) > 0 ||
    turn.answer === null ||
    findingsOn(turn, checks).length > 0 ||
    answerMarks(turn.answer, result.correctness).length > 0;
  return (
    <section aria-labelledby="said">
      <h3 id="said">Conversation</h3>
      <p class="facts">
        <span>{plural(turns.length, 'turn')}</span>
        <span>{ending === undefined ? 'end of the recording' : `ended: ${visible(ending)}`}</span>
        {blame !== undefined && (
          <strong class="blame">
            to blame: {blame === 'user' ? 'the simulated user' : 'the agent'}
          </strong>
        )}
      </p>
      <ol class="turns">
        {foldTurns(turns, isOfNote).map(({ isFolded, turns: some }) =>
          isFolded ? (
            <li key={some[0]!.turn}>
              <details class="quiet">
                <summary>
                  Turns {some[0]!.turn} to {some.at(-1)!.turn}: nothing was found in them
                </summary>
                <ol class="turns">{some.map(show)}</ol>
              </details>
            </li>
          ) : (
            some.map(show)
          ),
        )}
      </ol>
    </section>
  );
}

/** Only findings that need attention. Passed checks are in the table of their layer. */
const findingsOn = ({ checks }: TurnResult, all: readonly CheckResult[]): readonly CheckResult[] =>
  all.filter(({ id, status }) => checks.includes(id) && status !== 'pass' && status !== 'skip');

function Turn({
  turn,
  result,
  findings,
}: {
  turn: TurnResult;
  result: QueryResult;
  findings: readonly CheckResult[];
}) {
  const { turn: number, user, answer, tools, failed_tools: failed = [], status, latency_ms } = turn;
  return (
    <li>
      <p class="facts">
        <strong>Turn {number}</strong>
        {status !== 'skip' && <Status status={status} />}
        {latency_ms !== null && <span>{ms(latency_ms)}</span>}
      </p>
      <div class="said user">
        <span class="who">user</span>
        {visible(user)}
      </div>
      {tools === null ? (
        <p class="called">tool calls were not captured</p>
      ) : (
        tools.length > 0 && (
          <p class="called">
            {collapseNames(
              tools.map((name, i) => (failed.includes(i) ? `✕ ${name} failed` : name)),
            ).map(({ name, times }, i) => (
              <code key={i}>
                {visible(name)}
                {times > 1 && ` × ${times}`}
              </code>
            ))}
          </p>
        )
      )}
      <div class="said agent">
        <span class="who">agent</span>
        {answer === null ? (
          <em>no answer</em>
        ) : (
          <MarkedText text={answer} marks={answerMarks(answer, result.correctness)} />
        )}
      </div>
      {findings.map(({ id, status: verdict, message }, i) => (
        <p class="turn-finding" key={`${id}-${i}`}>
          <Status status={verdict} /> {visible(message.replace(`turn ${number}: `, ''))}
        </p>
      ))}
    </li>
  );
}
