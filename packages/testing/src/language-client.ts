import { type ChildProcess, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

/** A language server process with a client like an editor's, over stdio. */
export class LanguageClient {
  readonly process: ChildProcess;
  readonly connection: ProtocolConnection;
  readonly #waiting = new Map<string, (found: Diagnostic[]) => void>();
  #version = 0;

  constructor(
    command: readonly [string, ...string[]],
    options: { readonly cwd: string; readonly settings?: object },
  ) {
    const [program, ...args] = command;
    this.process = spawn(program, args, { cwd: options.cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    this.connection = createProtocolConnection(
      new StreamMessageReader(this.process.stdout!),
      new StreamMessageWriter(this.process.stdin!),
    );
    const settings: Readonly<Record<string, unknown>> = { ...options.settings };
    this.connection.onRequest(
      'workspace/configuration',
      ({ items }: { items: { section?: string }[] }) =>
        items.map(({ section = '' }) => settings[section] ?? null),
    );
    this.connection.onRequest('client/registerCapability', () => null);
    this.connection.onNotification(
      'textDocument/publishDiagnostics',
      ({ uri, diagnostics }: { uri: string; diagnostics: Diagnostic[] }) =>
        this.#waiting.get(uri)?.(diagnostics),
    );
    this.connection.listen();
  }

  async initialize(folder: string, initializationOptions?: object): Promise<InitializeResult> {
    const uri = pathToFileURL(folder).href;
    const result = await this.connection.sendRequest<InitializeResult>('initialize', {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'test' }],
      initializationOptions,
      capabilities: { workspace: { configuration: true } },
    });
    await this.connection.sendNotification('initialized', {});
    return result;
  }

  /** Opens a text, saved or not, and returns its diagnostics. */
  open(file: string, text: string): Promise<Diagnostic[]> {
    const textDocument = { uri: uriOf(file), languageId: 'yaml', version: ++this.#version, text };
    return this.#findings(textDocument.uri, 'textDocument/didOpen', { textDocument });
  }

  change(file: string, text: string): Promise<Diagnostic[]> {
    const uri = uriOf(file);
    const textDocument = { uri, version: ++this.#version };
    return this.#findings(uri, 'textDocument/didChange', {
      textDocument,
      contentChanges: [{ text }],
    });
  }

  /**
   * Changes a text, and waits for this number of diagnostics. Texts that depend on it are analyzed
   * first.
   */
  changeUntil(file: string, text: string, count: number): Promise<void> {
    const uri = uriOf(file);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${uri} never had ${count} findings`)),
        20_000,
      );
      this.#waiting.set(uri, (found) => {
        if (found.length !== count) return;
        clearTimeout(timer);
        resolve();
      });
      const textDocument = { uri, version: ++this.#version };
      this.connection
        .sendNotification('textDocument/didChange', { textDocument, contentChanges: [{ text }] })
        .catch(reject);
    });
  }

  request<T>(method: string, params: object): Promise<T> {
    return this.connection.sendRequest<T>(method, params);
  }

  /** Shuts down like an editor, and returns the exit code. */
  async close(): Promise<number | null> {
    const ended = this.ended();
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const code = await ended;
    this.connection.dispose();
    return code;
  }

  ended(): Promise<number | null> {
    if (this.process.exitCode !== null) return Promise.resolve(this.process.exitCode);
    return new Promise((resolve) => this.process.once('exit', resolve));
  }

  #findings(uri: string, method: string, params: object): Promise<Diagnostic[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the server says nothing about ${uri}`)),
        20_000,
      );
      this.#waiting.set(uri, (found) => {
        clearTimeout(timer);
        resolve(found);
      });
      this.connection.sendNotification(method, params).catch(reject);
    });
  }
}

export const uriOf = (file: string): string => pathToFileURL(file).href;
