import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { Bm25 } from './bm25.ts';

const folder = join(dirname(fileURLToPath(import.meta.url)), 'documents');
const PASSAGES = 2;

/** Every paragraph of the documents is a passage, without headings. */
const index = new Bm25(
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split(/\n{2,}/)
        .map((text) => text.trim())
        .filter((text) => text !== '' && !text.startsWith('#'))
        .map((text, i) => ({ id: `${name}#${i + 1}`, text })),
    ),
);

const NOTHING = 'no matching passage';

const retriever = tool(
  ({ query }) =>
    index
      .search(query, PASSAGES)
      .map(({ text }) => text)
      .join('\n\n') || NOTHING,
  {
    name: 'retriever_tool',
    description: 'Searches the documentation of AgentCI.',
    schema: z.object({ query: z.string() }),
  },
);

/** Web search needs a service. Without its key the tool returns an error, like in production. */
const webTool = (name: string, description: string) =>
  tool(async ({ query }) => (await tavily(query)) ?? 'no search service is configured', {
    name,
    description,
    schema: z.object({ query: z.string() }),
  });

async function tavily(query: string): Promise<string | undefined> {
  const key = process.env.TAVILY_API_KEY;
  if (process.env.DEMO_LIVE !== '1' || key === undefined) return undefined;
  const response = await fetch('https://api.tavily.com/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, max_results: 3 }),
  });
  if (!response.ok) throw new Error(`the search service answered ${response.status}`);
  const { results = [] } = (await response.json()) as { results?: { content?: string }[] };
  return results.map(({ content }) => content ?? '').join('\n\n');
}

export const tools = [
  retriever,
  webTool('tavily_search', 'Searches the web for recent pages.'),
  webTool('web_search', 'Searches the web.'),
];
