import type { Readable, Writable } from 'node:stream';
import { parseExact, stringifyExact } from '../../kit/exact-json.ts';
import { LineSplitter } from '../lines.ts';
import { errorReply, messagesIn } from '../message.ts';
import type { TapSink } from '../tap-log.ts';
import type { CassettePlayer } from './player.ts';

/** Answers a client on standard input and output in place of a server, until it is gone. */
export function replayStdio(
  playerNow: () => CassettePlayer,
  clean: (value: unknown) => unknown,
  {
    input,
    output,
    signal,
    parent,
    log,
  }: { input: Readable; output: Writable; signal: AbortSignal; parent: () => number; log?: TapSink },
): Promise<void> {
  const splitter = new LineSplitter({
    line: (bytes) => {
      const text = bytes.toString('utf8').trim();
      if (text === '') return;
      log?.add('c2s', bytes);
      const answers = answersTo(text, playerNow(), clean);
      for (const answer of answers.split('\n')) log?.add('s2c', Buffer.from(answer));
      output.write(answers);
    },
    long: (_, { isLast }) => {
      if (isLast) output.write(`${JSON.stringify(errorReply(null, -32600, 'the message is too large'))}\n`);
    },
  });
  return new Promise((resolve) => {
    const first = parent();
    const watch = setInterval(() => parent() !== first && done(), 5000);
    const done = (): void => {
      clearInterval(watch);
      output.write('', () => resolve());
      setTimeout(resolve, 1000).unref();
    };
    input.on('data', (chunk: Buffer) => splitter.write(chunk));
    input.once('end', () => {
      splitter.end();
      done();
    });
    input.once('close', done);
    output.once('error', () => resolve());
    signal.addEventListener('abort', done, { once: true });
  });
}

function answersTo(text: string, player: CassettePlayer, clean: (value: unknown) => unknown): string {
  const messages = messagesIn(text, parseExact);
  if (messages === undefined) return `${JSON.stringify(errorReply(null, -32700, 'the message is not JSON'))}\n`;
  const answers = messages.flatMap((message) => player.answer(message, clean) ?? []);
  if (text.startsWith('[')) return answers.length === 0 ? '' : `${stringifyExact(answers)}\n`;
  return answers.map((answer) => `${stringifyExact(answer)}\n`).join('');
}
