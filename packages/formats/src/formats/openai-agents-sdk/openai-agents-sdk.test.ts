import { describeFormat } from '@agentci/testing/format-cases';

describeFormat('openai-agents-sdk', [
  {
    when: 'items with a handoff and a call',
    recording: [
      {
        type: 'handoff_call_item',
        rawItem: {
          type: 'function_call',
          callId: 'h',
          name: 'ask',
          arguments: '{}',
          status: 'completed',
        },
        agent: { name: 'Desk' },
      },
      {
        type: 'handoff_output_item',
        rawItem: {
          type: 'function_call_result',
          callId: 'h',
          name: 'ask',
          output: { type: 'text', text: '{}' },
          status: 'completed',
        },
        sourceAgent: { name: 'Desk' },
        targetAgent: { name: 'Archivist' },
      },
      {
        type: 'tool_call_item',
        rawItem: {
          type: 'function_call',
          callId: 'c',
          name: 'find',
          arguments: '{}',
          status: 'completed',
        },
        agent: { name: 'Archivist' },
      },
      {
        type: 'tool_call_output_item',
        rawItem: {
          type: 'function_call_result',
          callId: 'c',
          name: 'find',
          output: { type: 'text', text: 'shelf 9' },
          status: 'completed',
        },
        agent: { name: 'Archivist' },
      },
      {
        type: 'message_output_item',
        rawItem: {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Shelf 9.' }],
        },
        agent: { name: 'Archivist' },
      },
    ],
    tools: ['ask({}) unknown', 'find({}) unknown'],
    handoffs: ['Desk > Archivist'],
    answer: 'Shelf 9.',
    status: 'ok',
    calls: 'full',
  },
]);
