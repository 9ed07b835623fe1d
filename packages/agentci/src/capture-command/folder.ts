import { closeSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { CaptureResult, Exchange } from '@agentci/capture';
import { exchangeLine, maskReply } from '@agentci/capture';
import { makeFolder, openFile, writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { findCredentials, keptDocument, maskText } from '@agentci/lib/secrets';
import { maskTrace } from '@agentci/trace';
import { cleanName } from '../mcp-commands/server-name.ts';

export const CAPTURE_SCHEMA = 'agentci.capture/1';

const FORMS = { whole: findCredentials, joined: findCredentials };

/**
 * The files of one capture. Exchanges and spans are written as they arrive, `capture.json` last.
 * Readable only by the user, because prompts are in them.
 */
export class CaptureFolder {
  readonly path: string;
  readonly #exchanges: number;
  #telemetry: number | undefined;

  constructor(path: string) {
    this.path = path;
    makeFolder(path, { mode: 0o700 });
    if (readdirSync(path).length > 0)
      throw new UserError('FILE_EXISTS', `--out: the folder "${path}" is not empty`, {
        hint: 'A capture needs a new folder.',
      });
    this.#exchanges = openFile(join(path, 'exchanges.jsonl'), 'ax', 0o600);
  }

  add(exchange: Exchange, run: string): void {
    writeSync(this.#exchanges, `${keptDocument(exchangeLine(maskReply(exchange, FORMS), run))}\n`);
  }

  addTelemetry(request: unknown): void {
    this.#telemetry ??= openFile(join(this.path, 'otlp.jsonl'), 'ax', 0o600);
    writeSync(this.#telemetry, `${keptDocument(JSON.stringify(request))}\n`);
  }

  finish({ trace, evidence }: CaptureResult, about: Readonly<Record<string, unknown>>): void {
    for (const [i, { server, lines }] of evidence.mcp.entries()) {
      const isSecond =
        evidence.mcp.findIndex((one) => cleanName(one.server) === cleanName(server)) !== i;
      const name = `mcp-${cleanName(server)}${isSecond ? `-${i + 1}` : ''}.jsonl`;
      this.#write(name, maskText(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
    }
    closeSync(this.#exchanges);
    if (this.#telemetry !== undefined) closeSync(this.#telemetry);
    if (trace !== undefined) this.#write('traces.jsonl', `${JSON.stringify(maskTrace(trace))}\n`);
    this.#write(
      'capture.json',
      `${maskText(JSON.stringify({ schema: CAPTURE_SCHEMA, ...about }, null, 2))}\n`,
    );
  }

  #write(name: string, text: string): void {
    writeFileAtomic(join(this.path, name), text, { mode: 0o600 });
  }
}
