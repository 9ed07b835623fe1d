import { HumanMessage } from '@langchain/core/messages';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Client } from 'langsmith';
import { asJson, type Recording } from './recording.ts';
import { stable, stableText } from './stable.ts';
import { QUESTION, repliesWithHandoff } from './story.ts';
import { swarm } from './swarm.ts';
import { listen, withModel } from './tee.ts';

/** The SDK's requests for one run of the swarm to a fake LangSmith server. */
async function posted(isMultipart: boolean): Promise<string[]> {
  const bodies: string[] = [];
  const server = await listen(async (incoming, body) => {
    if (incoming.url === '/info')
      return {
        body: JSON.stringify({
          batch_ingest_config: {
            use_multipart_endpoint: isMultipart,
            size_limit: 1000,
            size_limit_bytes: 20_000_000,
          },
        }),
      };
    if (/^\/runs\/(?:batch|multipart)$/.test(incoming.url ?? '')) bodies.push(body);
    return { status: 202 };
  });
  try {
    await withModel(repliesWithHandoff('transfer_to_billing'), async ({ url }) => {
      // A single batch after the run, because the batching during a run depends on timing.
      const client = new Client({ apiUrl: server.url, apiKey: 'none', manualFlushMode: true });
      const tracer = new LangChainTracer({ client, projectName: 'recorder' });
      await swarm(url).invoke({ messages: [new HumanMessage(QUESTION)] }, { callbacks: [tracer] });
      await client.flush();
      await client.awaitPendingTraceBatches();
    });
    return bodies;
  } finally {
    await server.close();
  }
}

export const record = async (): Promise<Recording> => {
  const [batch = '{}'] = await posted(false);
  const [multipart = ''] = await posted(true);
  return {
    'batch.json': asJson(stable(JSON.parse(batch))),
    'multipart.txt': withLengths(stableText(multipart)),
  };
};

/** Parts contain their length, which changes when ids, times and stacks are replaced. */
const withLengths = (text: string): string =>
  text.replace(
    /(; length=)\d+(\r\n\r\n)([\s\S]*?)(?=\r\n--)/g,
    (_, name: string, gap: string, body: string) =>
      `${name}${Buffer.byteLength(body)}${gap}${body}`,
  );
