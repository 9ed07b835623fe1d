import { createInterface } from 'node:readline/promises';
import { UserError } from '@agentci/lib/problems';
import { didYouMean, escapeTerminalLine } from '@agentci/lib/text';

/** Asks a question. Returns the typed line, or undefined at the end of input. */
export interface Prompt {
  readonly question: (text: string) => Promise<string | undefined>;
  readonly say: (text: string) => void;
}

/** Asks until the answer is one of the choices. Explains why an answer was rejected. */
export async function choose<T extends string>(
  prompt: Prompt,
  { question, choices, fallback }: { question: string; choices: readonly T[]; fallback: T },
): Promise<T> {
  for (;;) {
    const answer =
      (await answerOf(prompt, `${question} (${choices.join(', ')}) [${fallback}] `)) || fallback;
    const typed = answer.toLowerCase();
    const begun = choices.filter((choice) => choice.startsWith(typed));
    const found =
      choices.find((choice) => choice === typed) ?? (begun.length === 1 ? begun[0] : undefined);
    if (found !== undefined) return found;
    const near = didYouMean(answer, choices);
    prompt.say(
      `"${escapeTerminalLine(answer)}" is not one of ${choices.join(', ')}${near ? `; did you mean "${near}"?` : ''}\n`,
    );
  }
}

/** Asks until the answer passes the check. */
export async function askText(
  prompt: Prompt,
  {
    question,
    fallback,
    check,
  }: { question: string; fallback: string; check: (text: string) => string },
): Promise<string> {
  for (;;) {
    const answer = (await answerOf(prompt, `${question} [${fallback}] `)) || fallback;
    try {
      return check(answer);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      prompt.say(`${escapeTerminalLine(error.message)}. ${error.hint ?? ''}\n`);
    }
  }
}

async function answerOf(prompt: Prompt, text: string): Promise<string> {
  const line = await prompt.question(text);
  if (line === undefined)
    throw new UserError(
      'OPTION_INVALID',
      'the input ended before every question was answered; nothing was written',
      {
        hint: '--yes asks nothing and takes the defaults.',
      },
    );
  return line.trim();
}

/**
 * The terminal as a prompt. Ctrl-D ends the questions. Readline alone would leave them pending
 * forever.
 */
export async function withTerminal<T>(use: (prompt: Prompt) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Readline intercepts Ctrl-C, but only the program's handler sets the exit code.
  lines.once('SIGINT', () => {
    process.emit('SIGINT');
    lines.close();
  });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await use({
      question: (text) => Promise.race([lines.question(text).catch(() => undefined), closed]),
      say: (text) => void process.stdout.write(text),
    });
  } finally {
    lines.close();
  }
}
