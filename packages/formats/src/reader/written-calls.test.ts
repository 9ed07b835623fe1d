import { readOne } from '@agentci/testing/read-all';
import { describe, expect, test } from 'vitest';
import { writtenCalls, writtenResult } from './written-calls.ts';

const said = (content: string, ...rest: unknown[]) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Clean up.' }, { role: 'assistant', content }, ...rest],
});
const answered = (content: string, result: string) =>
  said(content, { role: 'user', content: result }, { role: 'assistant', content: 'All done.' });

describe('a call that a model wrote into its text', () => {
  test.each([
    ['Mistral', '[TOOL_CALLS][{"name": "rm", "arguments": {}}]'],
    ['harmony', '<|channel|>commentary to=functions.rm <|constrain|>json<|message|>{}<|call|>'],
    [
      'DeepSeek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>rm\n```json\n{}\n```<｜tool▁call▁end｜>',
    ],
    ['Llama', '<function=rm>{}</function>'],
    ['Llama with its tag', '<|python_tag|>{"name": "rm", "parameters": {}}<|eom_id|>'],
    ['Qwen', '✿FUNCTION✿: rm\n✿ARGS✿: {}'],
    ['Gemma', '```tool_code\nrm()\n```'],
    ['ReAct in Markdown', '**Thought:** x\n**Action:** rm\n**Action Input:** {}'],
    ['ReAct with brackets', 'Thought: x\nAction: rm[/]'],
    ['ReAct with numbers', 'Thought 1: x\nAction 1: rm[/]\nObservation 1: ok'],
    ['LangChain with JSON', 'Thought: x\n```\n{"action": "rm", "action_input": {}}\n```'],
    ['CodeAct', '<execute_bash>\nrm\n</execute_bash>'],
    [
      'Cline',
      '<use_mcp_tool>\n<server_name>x</server_name>\n<tool_name>rm</tool_name>\n<arguments>{}</arguments>\n</use_mcp_tool>',
    ],
    [
      'Open WebUI',
      '<details type="tool_calls" done="true" id="1" name="rm" arguments="{}">\n</details>\nDone.',
    ],
    [
      'blocks as Python prints them',
      "[ToolUseBlock(id='t1', input={}, name='rm', type='tool_use')]",
    ],
    ['AutoGen', '***** Suggested tool call (call_1): rm *****\nArguments:\n{}'],
    ['a program that prints what it calls', 'Calling tool `rm` now.'],
    ['a list in the words of Python', "[rm(path='/')]"],
    ['a line that names it', 'Tool call: rm({"path": "/"})'],
    ['a list of calls in JSON', '[{"name": "rm", "arguments": {}}]'],
    ['a command in JSON', '{"thoughts": {"text": "x"}, "command": {"name": "rm", "args": {}}}'],
    [
      'keystrokes in JSON',
      '{"plan": "y", "commands": [{"keystrokes": "rm\\n"}], "task_complete": false}',
    ],
  ])('%s: tool calls are partly known', async (_, text) => {
    expect((await readOne(answered(text, 'ok'))).captured.toolCalls).not.toBe('full');
  });

  test.each([
    ['Cline', '<rm>\n<path>/</path>\n</rm>', "[rm for '/'] Result:\nok"],
    ['an observation', 'I look.', 'Observation: ok'],
    ['a command', 'I look.', 'Command output:\nok'],
    ['a tool with its name', 'I look.', 'Tool `rm` returned: ok'],
    ['a terminal', 'I look.', 'New Terminal Output:\nok'],
    ['code that was run', 'I look.', 'EXECUTION RESULT of [IPythonRunCellAction]:\nok'],
  ])('a result in the place of a question, %s', async (_, text, result) => {
    expect((await readOne(answered(text, result))).captured.toolCalls).toBe('partial');
  });

  test.each([
    [
      'a question that shows how a call is written',
      {
        messages: [
          { role: 'user', content: 'Write <tool_call>{"name": "rm"}</tool_call>.' },
          { role: 'assistant', content: 'No.' },
        ],
      },
    ],
    [
      'an answer with code',
      said('Call it like this:\n```json\n{"name": "rm", "arguments": {}}\n```\nand see.'),
    ],
    [
      'an answer about tools',
      said('Use the tool calls of your SDK. Tool use: it depends on the model.'),
    ],
    ['an answer in JSON', said('{"name": "Ada", "age": 36}')],
    ['a list in brackets', said('[1] The first source. [2] The second.')],
    [
      'a question about an observation',
      {
        messages: [
          { role: 'user', content: 'Observation: the sky is blue. Why?' },
          { role: 'assistant', content: 'Light.' },
        ],
      },
    ],
  ])('%s is none', async (_, recording) => {
    expect((await readOne(recording)).captured.toolCalls).toBe('full');
  });
});

test.each([
  ['white space', ' '.repeat(100_000)],
  ['white space after a mark', `[TOOL_CALLS]${' '.repeat(100_000)}`],
  ['lines that begin a thought', 'Thought:\n'.repeat(11_000)],
  ['brackets', '[{'.repeat(50_000)],
  ['actions', 'Action: x\n'.repeat(10_000)],
  ['marks of details', '<details type="tool_calls" '.repeat(3700)],
])('a long text of %s is looked through at once', (_, text) => {
  const started = performance.now();
  writtenCalls(text);
  writtenResult(text);
  expect(performance.now() - started).toBeLessThan(1000);
});
