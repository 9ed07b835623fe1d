import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MAX_YAML_SIZE } from '@agentci/lib/yaml';
import type { Suite } from '@agentci/spec';
import { DISK, realPath, type SpecFiles } from '@agentci/spec';
import {
  TextDocument,
  type TextDocumentContentChangeEvent,
} from 'vscode-languageserver-textdocument';
import { type Diagnosis, diagnose } from './diagnose.ts';

const MAX_OPEN = 1000;

/** The editor's folder and settings. */
export interface Workspace {
  readonly folder: string;
  /** Files configured as specs, whatever their names. */
  readonly isSpec: (file: string) => boolean;
}

/** A text open in the editor, with its analysis. */
export class OpenDocument {
  readonly file: string;
  readonly uri: string;
  /** Duration of the last analysis in milliseconds. */
  lookedFor = 0;
  #text: TextDocument;
  #lines: readonly string[] | undefined;
  #diagnosis: Diagnosis | undefined;
  /** The last readable suite. It stays useful while the user types. */
  #suite: Suite | undefined;

  readonly #isNamedSpec: boolean;
  readonly #openTexts: () => ReadonlyMap<string, string>;
  /** Real paths of the files read for it. */
  #read: ReadonlySet<string> = new Set();

  constructor(
    uri: string,
    text: string,
    { folder, isSpec }: Workspace,
    openTexts: () => ReadonlyMap<string, string> = () => new Map(),
  ) {
    this.#openTexts = openTexts;
    this.uri = uri;
    this.file = fileOf(uri, folder);
    this.#isNamedSpec = isSpec(this.file);
    this.#text = TextDocument.create(uri, 'yaml', 0, text);
  }

  change(changes: TextDocumentContentChangeEvent[]): void {
    this.#text = TextDocument.update(this.#text, changes, this.#text.version + 1);
    this.forget();
  }

  /** Called when an included file may have changed. */
  forget(): void {
    this.#lines = undefined;
    this.#diagnosis = undefined;
  }

  get text(): string {
    return this.#text.getText();
  }

  get lines(): readonly string[] {
    this.#lines ??= this.text.split(/\r\n|\r|\n/);
    return this.#lines;
  }

  get diagnosis(): Diagnosis {
    if (this.#diagnosis === undefined) {
      const read = new Set<string>();
      const kind = this.#isNamedSpec ? 'spec' : undefined;
      const files = editorFiles(this.#openTexts(), read);
      this.#diagnosis = diagnose(this.file, this.text, kind, files);
      this.#read = read;
      this.#suite = this.#diagnosis.suite ?? this.#suite;
    }
    return this.#diagnosis;
  }

  /** Whether the analysis depends on another file. */
  reads(path: string): boolean {
    return this.#read.has(path);
  }

  get suite(): Suite | undefined {
    return this.diagnosis.suite ?? this.#suite;
  }
}

/** The open texts of an editor. */
export class Documents {
  readonly #open = new Map<string, OpenDocument>();

  open(uri: string, text: string, workspace: Workspace): OpenDocument | undefined {
    if (this.#open.size >= MAX_OPEN && !this.#open.has(uri)) return undefined;
    const document = new OpenDocument(uri, text, workspace, () => this.#texts());
    this.#open.set(uri, document);
    return document;
  }

  get(uri: string): OpenDocument | undefined {
    return this.#open.get(uri);
  }

  close(uri: string): void {
    this.#open.delete(uri);
  }

  /** Open documents that read this one. */
  *readersOf({ file }: OpenDocument): Generator<OpenDocument> {
    const path = realPath(file);
    for (const other of this.#open.values())
      if (other.file !== file && other.reads(path)) yield other;
  }

  #texts(): ReadonlyMap<string, string> {
    return new Map(
      [...this.#open.values()].map((document) => [realPath(document.file), document.text]),
    );
  }

  [Symbol.iterator](): Iterator<OpenDocument> {
    return this.#open.values();
  }
}

export const uriOf = (file: string): string => pathToFileURL(file).href;

/** A text that was never saved has no path. It counts as a file in the server's start folder. */
function fileOf(uri: string, folder: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    const name =
      uri
        .split(/[/:\\]/)
        .at(-1)
        ?.replace(/[^\w.-]/g, '') || 'agentci_spec';
    return join(folder, /\.ya?ml$/.test(name) ? name : `${name}.yaml`);
  }
}

export const folderOfUri = (uri: string | null | undefined, usual: string): string => {
  if (uri === null || uri === undefined) return usual;
  const file = fileOf(uri, usual);
  return file.endsWith('.yaml') && !uri.endsWith('.yaml') ? dirname(file) : file;
};

/** Reads open texts first, then the disk. Adds every path to `read`. */
function editorFiles(texts: ReadonlyMap<string, string>, read: Set<string>): SpecFiles {
  return {
    realPath: (path) => DISK.realPath(path) ?? (texts.has(path) ? path : undefined),
    readText: (path, maxBytes = MAX_YAML_SIZE) => {
      read.add(path);
      const open = texts.get(path);
      if (open === undefined) return DISK.readText(path, maxBytes);
      return open.length > maxBytes ? undefined : open;
    },
  };
}
