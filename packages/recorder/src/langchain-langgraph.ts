import {
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
} from '@langchain/core/messages';
import { asJson, asLines, type Recording } from './recording.ts';
import { stable } from './stable.ts';
import { QUESTION, repliesWithHandoff } from './story.ts';
import { swarm } from './swarm.ts';
import { withModel } from './tee.ts';

const REPLIES = repliesWithHandoff('transfer_to_billing');
const asked = () => ({ messages: [new HumanMessage({ id: 'asked', content: QUESTION })] });

/** The final state of a swarm, its messages in stored form, and the events of a run. */
export const record = async (): Promise<Recording> => ({
  ...(await withModel(REPLIES, async ({ url }) => {
    const state: { messages: BaseMessage[] } = await swarm(url).invoke(asked());
    return {
      'state.json': asJson(stable(state)),
      'stored-messages.json': asJson(stable(mapChatMessagesToStoredMessages(state.messages))),
    };
  })),
  ...(await withModel(REPLIES, async ({ url }) => {
    const events: unknown[] = [];
    for await (const event of swarm(url).streamEvents(asked(), { version: 'v2' }))
      if (!event.event.endsWith('_stream')) events.push(event);
    return { 'stream-events.jsonl': asLines(stable(events)) };
  })),
});
