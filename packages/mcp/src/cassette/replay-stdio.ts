import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseExact, stringifyExact } from '@agentci/lib/json';
import { LineSplitter } from '../lines.ts';
import { errorReply, messagesIn } from '../message.ts';
import type { TapSink } from '../tap-log.ts';
import type { CassettePlayer } from './player.ts';

/** Answers a client over stdio in place of a server, until it disconnects. */
export function replayStdio(
  playerNow: () => CassettePlayer,
  clean: (value: unknown) => unknown,
  {
    input,
    output,
    signal,
    parent,
    log,
  }: {
    input: Readable;
    output: Writable;
    signal: AbortSignal;
    parent: () => number;
    log?: TapSink;
  },
): Promise<void> {
  let written = Promise.resolve();
  const splitter = new LineSplitter({
    line: (bytes) => {
      const text = bytes.toString('utf8').trim();
      if (text === '') return;
      log?.add('c2s', bytes);
      const { before, rest } = answersTo(text, playerNow(), clean);
      for (const one of [...before, ...rest]) log?.add('s2c', Buffer.from(one));
      written = written.then(async () => {
        output.write(before.join(''));
        // Some clients drop notifications that arrive in one chunk with the answer.
        if (before.length > 0) await sleep(PAUSE_MS);
        output.write(rest.join(''));
      });
    },
    long: (_, { isLast }) => {
      if (isLast)
        output.write(`${JSON.stringify(errorReply(null, -32600, 'the message is too large'))}\n`);
    },
  });
  return new Promise((resolve) => {
    const first = parent();
    const watch = setInterval(() => parent() !== first && done(), 5000);
    const done = (): void => {
      clearInterval(watch);
      void written.then(() => {
        output.write('', () => resolve());
        setTimeout(resolve, 1000).unref();
      });
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

const PAUSE_MS = 15;

/** The reply to a line, as lines: notifications, the answers, and later notifications. */
function answersTo(
  text: string,
  player: CassettePlayer,
  clean: (value: unknown) => unknown,
): { readonly before: readonly string[]; readonly rest: readonly string[] } {
  const line = (value: unknown): string => `${stringifyExact(value)}\n`;
  const messages = messagesIn(text, parseExact);
  if (messages === undefined)
    return { before: [], rest: [line(errorReply(null, -32700, 'the message is not JSON'))] };
  const replies = messages.map((message) => player.reply(message, clean));
  const answers = replies.flatMap(({ answer }) => answer ?? []);
  const isBatch = text.startsWith('[') && answers.length > 0;
  return {
    before: replies.flatMap(({ before }) => before.map(line)),
    rest: [...(isBatch ? [answers] : answers), ...replies.flatMap(({ after }) => after)].map(line),
  };
}
