import type { ConversationResult } from '../../agentci/src/results/run-result.ts';
import { ms } from './format.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

/** What was said, turn by turn, with the tools called in between and the verdict on each turn. */
export function ConversationView({ conversation }: { conversation: ConversationResult }) {
  const { turns, ending, blame } = conversation;
  return (
    <section>
      <h3>Conversation</h3>
      <ol class="turns">
        {turns.map(({ turn, user, answer, tools, status, latency_ms }) => (
          <li key={turn}>
            <p class="facts">
              <strong>Turn {turn}</strong>
              {status !== 'skip' && <Status status={status} />}
              {latency_ms !== null && <span>{ms(latency_ms)}</span>}
            </p>
            <p class="said user">
              <span class="who">user</span> {visible(user)}
            </p>
            {tools !== null && tools.length > 0 && (
              <p class="said tools">
                <span class="who">tools</span> {visible(tools.join(', '))}
              </p>
            )}
            <p class="said agent">
              <span class="who">agent</span> {answer === null ? <em>no answer</em> : visible(answer)}
            </p>
          </li>
        ))}
      </ol>
      <p class="empty">
        {ending === undefined ? 'End of the recording.' : `Ended: ${visible(ending)}.`}
        {blame !== undefined && ` To blame: ${blame}.`}
      </p>
    </section>
  );
}
