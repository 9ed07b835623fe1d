// Calls the model of its cell with the prompt of its cell. Both are variables.
import { readFileSync } from 'node:fs';

export default async function agent(query, { vars }) {
  const prompt = readFileSync(new URL(vars.prompt, import.meta.url), 'utf8');
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
    },
    body: JSON.stringify({
      model: vars.model,
      messages: [
        { role: 'system', content: prompt },
        { role: 'user', content: query },
      ],
    }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  const { choices, usage } = await response.json();
  return {
    answer: choices[0].message.content,
    tool_calls: [],
    llm_calls: [
      {
        model: vars.model,
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
      },
    ],
  };
}
