import { DISK } from '@agentci/spec';
import type { Diagnostic as EditorDiagnostic } from 'vscode-languageserver/node';
import { type OpenDocument, uriOf } from './documents.ts';
import { editorDiagnostic } from './findings.ts';

/**
 * Diagnostics by file. A spec also has diagnostics for its includes, and two specs may include the
 * same file.
 */
export class Publisher {
  readonly #byOwner = new Map<string, ReadonlyMap<string, readonly EditorDiagnostic[]>>();
  readonly #send: (uri: string, found: EditorDiagnostic[]) => void;

  constructor(send: (uri: string, found: EditorDiagnostic[]) => void) {
    this.#send = send;
  }

  publish(document: OpenDocument, linesOf: (uri: string) => readonly string[] | undefined): void {
    const found = new Map<string, EditorDiagnostic[]>([[document.uri, []]]);
    for (const one of document.diagnosis.diagnostics) {
      const uri = one.file === document.file ? document.uri : uriOf(one.file);
      const list = found.get(uri) ?? [];
      const lines = linesOf(uri) ?? (DISK.readText(one.file) ?? '').split(/\r\n|\r|\n/);
      found.set(uri, [...list, editorDiagnostic(one, lines)]);
    }
    this.#replace(document.uri, found);
  }

  withdraw(uri: string): void {
    this.#replace(uri, new Map());
  }

  #replace(owner: string, found: ReadonlyMap<string, readonly EditorDiagnostic[]>): void {
    const touched = new Set([...(this.#byOwner.get(owner)?.keys() ?? []), ...found.keys()]);
    if (found.size === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, found);
    for (const uri of touched) {
      const all = [...this.#byOwner.values()].flatMap((each) => each.get(uri) ?? []);
      // An open policy and the specs that use it report the same diagnostics.
      this.#send(uri, [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]);
    }
  }
}
