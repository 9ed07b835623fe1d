import type { CheckResult, ConversationResult, QueryResult, TurnResult } from '../../agentci/src/results/run-result.ts';
import { ms } from './format.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

/** What was said, turn by turn, with the tools called in between and the findings on each turn. */
export function ConversationView({ result, conversation }: { result: QueryResult; conversation: ConversationResult }) {
  const { turns, ending, blame } = conversation;
  const checks = [result.correctness, result.path, result.cost].flatMap((layer) => layer.checks);
  return (
    <section>
      <h3>Conversation</h3>
      <p class="facts">
        <span>{turns.length === 1 ? '1 turn' : `${turns.length} turns`}</span>
        <span>{ending === undefined ? 'end of the recording' : `ended: ${visible(ending)}`}</span>
        {blame !== undefined && (
          <strong class="blame">to blame: {blame === 'user' ? 'the simulated user' : 'the agent'}</strong>
        )}
      </p>
      <ol class="turns">
        {turns.map((turn) => (
          <TurnCard key={turn.turn} turn={turn} findings={findingsOn(turn, checks)} />
        ))}
      </ol>
    </section>
  );
}

/** A check that held is in the table of its layer; here is what needs a look. */
const findingsOn = ({ checks }: TurnResult, all: readonly CheckResult[]): readonly CheckResult[] =>
  all.filter(({ id, status }) => checks.includes(id) && status !== 'pass' && status !== 'skip');

function TurnCard({ turn, findings }: { turn: TurnResult; findings: readonly CheckResult[] }) {
  const { turn: number, user, answer, tools, status, latency_ms } = turn;
  return (
    <li>
      <p class="facts">
        <strong>Turn {number}</strong>
        {status !== 'skip' && <Status status={status} />}
        {latency_ms !== null && <span>{ms(latency_ms)}</span>}
      </p>
      <dl>
        <dt>user</dt>
        <dd class="said">{visible(user)}</dd>
        {tools !== null && tools.length > 0 && (
          <>
            <dt>tools</dt>
            <dd class="called">
              {tools.map((name, i) => (
                <code key={`${name}-${i}`}>{visible(name)}</code>
              ))}
            </dd>
          </>
        )}
        <dt>agent</dt>
        <dd class="said agent">{answer === null ? <em>no answer</em> : visible(answer)}</dd>
        {findings.map(({ id, status: verdict, message }) => (
          <>
            <dt key={`${id} status`}>
              <Status status={verdict} />
            </dt>
            <dd key={id}>{visible(message.replace(`turn ${number}: `, ''))}</dd>
          </>
        ))}
      </dl>
    </li>
  );
}
