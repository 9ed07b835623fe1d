import { relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isObject } from '@agentci/lib/data';
import { compileGlob } from '@agentci/lib/regex';
import { specJsonSchema } from '@agentci/spec';
import {
  type CodeActionParams,
  createProtocolConnection,
  type DidChangeTextDocumentParams,
  type DidOpenTextDocumentParams,
  type InitializeParams,
  type InitializeResult,
  type ProtocolConnection,
  StreamMessageWriter,
  type TextDocumentIdentifier,
  type TextDocumentPositionParams,
} from 'vscode-languageserver/node';
import { complete } from './complete.ts';
import { cursorAt, keyAt } from './cursor.ts';
import { define } from './define.ts';
import { Documents, folderOfUri, type OpenDocument, uriOf, type Workspace } from './documents.ts';
import { quickFixes } from './findings.ts';
import { hoverText, queryAt } from './hover.ts';
import { lensesOf, queriesIn } from './lenses.ts';
import { BoundedMessageReader } from './message-reader.ts';
import { Nearby } from './nearby.ts';
import { Publisher } from './publisher.ts';
import { SchemaGuide } from './schema-walk.ts';

export interface ServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly cwd: string;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

const PARENT_CHECKED_EVERY_MS = 2000;
/** Documents that take less are analyzed right after each change. */
const QUICK_MS = 200;
const MAX_WAIT_MS = 2000;
const MAX_GLOBS = 100;

/**
 * Serves one editor until it shuts down or disconnects. Returns the exit code. Reads files, never
 * writes or runs any.
 */
export function serve(options: ServerOptions): Promise<number> {
  return new Promise((resolve) => new Server(options, resolve).start());
}

class Server {
  readonly #options: ServerOptions;
  readonly #connection: ProtocolConnection;
  readonly #documents = new Documents();
  readonly #publisher: Publisher;
  readonly #nearby: Nearby;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #onEnd: (code: number) => void;
  #guide: SchemaGuide | undefined;
  #workspace: Workspace;
  #isShutDown = false;
  #parentCheck: NodeJS.Timeout | undefined;

  constructor(options: ServerOptions, onEnd: (code: number) => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#workspace = { folder: options.cwd, isSpec: () => false };
    this.#nearby = new Nearby(options.now);
    this.#connection = createProtocolConnection(
      new BoundedMessageReader(options.input),
      new StreamMessageWriter(options.output),
    );
    this.#publisher = new Publisher((uri, diagnostics) =>
      this.#notify('textDocument/publishDiagnostics', { uri, diagnostics }),
    );
  }

  start(): void {
    const connection = this.#connection;
    connection.onRequest('initialize', (params: InitializeParams) => this.#initialize(params));
    connection.onRequest('shutdown', () => {
      this.#isShutDown = true;
      return null;
    });
    connection.onNotification('exit', () => this.#end());
    connection.onClose(() => this.#end());
    // If the client is gone, the input closes as well.
    connection.onError(() => {});
    this.#options.signal.addEventListener('abort', () => this.#end());
    this.#followTexts();
    this.#answerQuestions();
    connection.listen();
  }

  #initialize({
    processId,
    workspaceFolders,
    rootUri,
    initializationOptions,
  }: InitializeParams): InitializeResult {
    const folder = folderOfUri(workspaceFolders?.[0]?.uri ?? rootUri, this.#options.cwd);
    this.#workspace = { folder, isSpec: specsNamed(initializationOptions, folder) };
    if (typeof processId === 'number') this.#watchParent(processId);
    return {
      serverInfo: { name: 'agentci', version: this.#options.version },
      capabilities: {
        textDocumentSync: { openClose: true, change: 2, save: true },
        completionProvider: { triggerCharacters: [' ', '-', '[', '{', ',', ':'] },
        hoverProvider: true,
        definitionProvider: true,
        codeActionProvider: { codeActionKinds: ['quickfix'] },
        codeLensProvider: {},
      },
    };
  }

  #followTexts(): void {
    const connection = this.#connection;
    connection.onNotification(
      'textDocument/didOpen',
      ({ textDocument }: DidOpenTextDocumentParams) => {
        const document = this.#documents.open(textDocument.uri, textDocument.text, this.#workspace);
        if (document === undefined) return;
        this.#look(document);
        this.#lookAtReaders(document);
      },
    );
    connection.onNotification('textDocument/didChange', (params: DidChangeTextDocumentParams) => {
      const document = this.#documents.get(params.textDocument.uri);
      if (document === undefined) return;
      document.change(params.contentChanges);
      this.#lookSoon(document);
      this.#lookAtReaders(document);
    });
    connection.onNotification(
      'textDocument/didClose',
      ({ textDocument: { uri } }: { textDocument: TextDocumentIdentifier }) => {
        const document = this.#documents.get(uri);
        this.#documents.close(uri);
        this.#publisher.withdraw(uri);
        if (document !== undefined) this.#lookAtReaders(document);
      },
    );
    for (const event of ['textDocument/didSave', 'workspace/didChangeWatchedFiles'])
      connection.onNotification(event, () => {
        for (const document of this.#documents) {
          document.forget();
          this.#lookSoon(document);
        }
      });
  }

  #answerQuestions(): void {
    const connection = this.#connection;
    const answer = <P extends { textDocument: TextDocumentIdentifier }>(
      method: string,
      give: (document: OpenDocument, params: P) => unknown,
    ): void => {
      connection.onRequest(method, (params: P) => {
        const document = this.#documents.get(params.textDocument.uri);
        return document === undefined ? null : give(document, params);
      });
    };
    answer(
      'textDocument/completion',
      async (document, { position }: TextDocumentPositionParams) => {
        const { kind } = document.diagnosis;
        if (kind === 'other') return null;
        const names = await this.#nearby.namesFor(document);
        const cursor = cursorAt(document.lines, position.line, position.character);
        return complete(cursor, position.line, { kind, guide: this.#schema, names });
      },
    );
    answer(
      'textDocument/definition',
      (document, { position: { line, character } }: TextDocumentPositionParams) => {
        const target = define(document.file, document.text, line, character);
        if (target === undefined) return null;
        const start = { line: target.line, character: target.character };
        return { uri: uriOf(target.file), range: { start, end: start } };
      },
    );
    answer(
      'textDocument/hover',
      (document, { position: { line, character } }: TextDocumentPositionParams) => {
        const key = keyAt(document.lines, line, character);
        if (key === undefined || document.diagnosis.kind !== 'spec') return null;
        const { suite, file } = document;
        const query = suite === undefined ? undefined : queryAt(suite, file, line);
        const verdict =
          query === undefined ? undefined : this.#nearby.verdictOn(file, suite!, query.id);
        const value = hoverText(key, { guide: this.#schema, verdict });
        return value === undefined ? null : { contents: { kind: 'markdown', value } };
      },
    );
    answer('textDocument/codeAction', (document, { range }: CodeActionParams) =>
      quickFixes(
        document.uri,
        document.diagnosis.diagnostics.filter(({ file }) => file === document.file),
        document.lines,
        range,
      ),
    );
    answer('textDocument/codeLens', ({ diagnosis, suite, file, text }) => {
      if (diagnosis.suite !== undefined) return lensesOf(diagnosis.suite.queries, file);
      const queries = diagnosis.kind === 'spec' ? queriesIn(file, text) : undefined;
      return lensesOf(queries ?? suite?.queries ?? [], file);
    });
  }

  get #schema(): SchemaGuide {
    this.#guide ??= new SchemaGuide(specJsonSchema());
    return this.#guide;
  }

  /** Batches changes. Slow documents, such as those with many rows, are analyzed less often. */
  #lookSoon(document: OpenDocument): void {
    clearTimeout(this.#waiting.get(document.uri));
    const { lookedFor } = document;
    const wait = lookedFor <= QUICK_MS ? 0 : Math.min(MAX_WAIT_MS, lookedFor);
    this.#waiting.set(
      document.uri,
      setTimeout(() => this.#look(document), wait),
    );
  }

  /** Specs see the open text of a policy or include, not the file on disk. */
  #lookAtReaders(document: OpenDocument): void {
    for (const reader of this.#documents.readersOf(document)) {
      reader.forget();
      this.#lookSoon(reader);
    }
  }

  #look(document: OpenDocument): void {
    this.#waiting.delete(document.uri);
    if (this.#documents.get(document.uri) !== document) return;
    const before = this.#options.now();
    this.#publisher.publish(document, (uri) => this.#documents.get(uri)?.lines);
    document.lookedFor = this.#options.now() - before;
  }

  #notify(method: string, params: object): void {
    this.#connection.sendNotification(method, params).catch(() => {});
  }

  /** A killed editor sends nothing, and one of its child processes may hold the pipe open. */
  #watchParent(id: number): void {
    this.#parentCheck = setInterval(() => {
      try {
        process.kill(id, 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ESRCH') this.#end();
      }
    }, PARENT_CHECKED_EVERY_MS);
    this.#parentCheck.unref();
  }

  #end(): void {
    clearInterval(this.#parentCheck);
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#onEnd(this.#isShutDown ? 0 : 1);
  }
}

/** `{specs: ["evals/*.yaml"]}`: specs by path in the folder. */
function specsNamed(options: unknown, folder: string): (file: string) => boolean {
  const written =
    isObject(options) && Array.isArray(options.specs) ? options.specs.slice(0, MAX_GLOBS) : [];
  const globs = written.filter((one) => typeof one === 'string').map(compileGlob);
  return (file) => globs.some((matches) => matches(relative(folder, file).replaceAll('\\', '/')));
}
