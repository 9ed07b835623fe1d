import { expect, test } from 'vitest';
import { reasonIn } from './stderr-reason.ts';

test.each([
  {
    from: 'Python',
    stderr:
      'Traceback (most recent call last):\n  File "agent.py", line 1, in <module>\n    main()\nKeyError: \'query\'\n',
    reason: "KeyError: 'query'",
  },
  {
    from: 'Python with a qualified name and more lines below',
    stderr:
      'Traceback (most recent call last):\n  File "a.py", line 3\npydantic_core._pydantic_core.ValidationError: 1 validation error for User\nname\n  Field required\n',
    reason: 'pydantic_core._pydantic_core.ValidationError: 1 validation error for User',
  },
  {
    from: 'Python with one exception after another',
    stderr:
      'ValueError: first\n\nDuring handling of the above exception, another exception occurred:\n\nopenai.AuthenticationError: no key\n',
    reason: 'openai.AuthenticationError: no key',
  },
  {
    from: 'Node',
    stderr:
      "node:internal/modules/cjs/loader:1\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n    at Module._load (node:internal)\n    at node:internal {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.19.0\n",
    reason: "Error: Cannot find module 'x'",
  },
  {
    from: 'Node with a code',
    stderr:
      'TypeError [ERR_INVALID_ARG_TYPE]: not a string\n    at x (y.js:1:1)\n\nNode.js v22.0.0\n',
    reason: 'TypeError [ERR_INVALID_ARG_TYPE]: not a string',
  },
  {
    from: 'Go',
    stderr:
      'panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2\n',
    reason: 'panic: runtime error: index out of range',
  },
  {
    from: 'Rust',
    stderr:
      "thread 'main' panicked at src/main.rs:2:5:\nno key\nnote: run with `RUST_BACKTRACE=1`\n",
    reason: "thread 'main' panicked at src/main.rs:2:5: no key",
  },
  {
    from: 'Java',
    stderr:
      'Exception in thread "main" java.lang.IllegalStateException: no key\n\tat Main.main(Main.java:3)\n',
    reason: 'Exception in thread "main" java.lang.IllegalStateException: no key',
  },
  {
    from: 'Ruby',
    stderr: "a.rb:1:in `<main>': boom (RuntimeError)\n",
    reason: "a.rb:1:in `<main>': boom (RuntimeError)",
  },
  {
    from: 'a shell',
    stderr: 'starting\n./agent.sh: line 3: jq: command not found\n',
    reason: './agent.sh: line 3: jq: command not found',
  },
  {
    from: 'a log',
    stderr: 'INFO one\nERROR: the key is missing\nINFO bye\n',
    reason: 'ERROR: the key is missing',
  },
  { from: 'a program that says little', stderr: 'no\n', reason: 'no' },
])('$from: $reason', ({ stderr, reason }) => {
  expect(reasonIn(stderr)).toBe(`: ${reason}`);
});

test('silence has no reason, and a long line is cut', () => {
  expect(reasonIn(' \n')).toBe('');
  expect(reasonIn(`Error: ${'x'.repeat(1000)}`)).toHaveLength(302);
});
