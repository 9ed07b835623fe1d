// A support agent: a loop around a model with two tools. It receives the whole conversation in
// every turn.
const ORDERS = { 42: ['desk lamp', 'water bottle'] };
const TOOLS = {
  lookup_order: ({ order }) => ({ order, items: ORDERS[order] ?? [] }),
  refund: ({ order, item }) => ({ order, item, status: 'refunded' }),
};

export default async function agent(_message, { messages }) {
  const history = messages.map(({ role, content }) => ({ role, content }));
  const tool_calls = [];
  const llm_calls = [];
  for (let round = 0; round < 5; round++) {
    const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
      },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: history }),
    });
    if (!response.ok) throw new Error(`the model answered ${response.status}`);
    const { choices, usage } = await response.json();
    const { message } = choices[0];
    llm_calls.push({
      model: 'gpt-4o-mini',
      input_tokens: usage.prompt_tokens,
      output_tokens: usage.completion_tokens,
    });
    if (!message.tool_calls?.length) return { answer: message.content, tool_calls, llm_calls };
    history.push(message);
    for (const { id, function: call } of message.tool_calls) {
      const args = JSON.parse(call.arguments);
      const result = TOOLS[call.name](args);
      tool_calls.push({ name: call.name, args, result });
      history.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) });
    }
  }
  throw new Error('no answer after five rounds');
}
