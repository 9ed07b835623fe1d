import { nodeAt, parseYaml, toPlain, type YamlNode } from '@agentci/lib/yaml';
import { fields } from '../build/values.ts';
import { bodyOfBytes, bodyOfText } from './http-body.ts';
import { indentQuoted } from './indent-quoted.ts';
import { nothingRecorded, type Unpacked, type UnpackedRecord } from './unpacked.ts';

const BINARY = 'tag:yaml.org,2002:binary';

/**
 * Cassettes of HTTP recorders (VCR and its kin): every interaction is one record, `{method, uri, request, status,
 * response}`, bodies parsed where they are JSON. Headers are left behind: that is where keys are.
 */
export function unpackCassette(bytes: Uint8Array): Unpacked {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const strict = parsed(text);
  const { list, diagnostics } = strict.list === undefined ? parsed(indentQuoted(text)) : strict;
  if (list?.kind !== 'seq') {
    const [first] = strict.diagnostics.length > 0 ? strict.diagnostics : diagnostics;
    return {
      records: [],
      problems: [
        {
          code: 'TRACE_BAD_YAML',
          message: first?.message ?? 'the cassette has no interactions',
          line: first?.line ?? 1,
        },
      ],
    };
  }
  if (list.items.length === 0) return nothingRecorded('cassette');
  return { records: list.items.map(interaction) };
}

function parsed(text: string) {
  const { root, diagnostics } = parseYaml(text, { file: 'cassette', tags: ['!!binary', BINARY] });
  const list =
    root === undefined
      ? undefined
      : (nodeAt(root, ['interactions']) ?? nodeAt(root, ['http_interactions']));
  return { list, diagnostics };
}

function interaction(node: YamlNode): UnpackedRecord {
  const request = fields(plainAt(node, ['request']));
  const { status, code: number } = fields(plainAt(node, ['response']));
  const code = typeof status === 'number' ? status : (fields(status).code ?? number);
  return {
    value: {
      method: request.method,
      uri: request.uri ?? request.url,
      request: bodyIn(node, 'request'),
      status: code,
      response: bodyIn(node, 'response'),
    },
  };
}

const plainAt = (node: YamlNode, path: readonly string[]): unknown => {
  const found = nodeAt(node, path);
  return found === undefined ? undefined : toPlain(found);
};

/** Some recorders keep a body parsed, beside the place it has as text. */
function bodyIn(node: YamlNode, side: 'request' | 'response'): unknown {
  const found = body(nodeAt(node, [side, 'body']));
  const parsed =
    found === undefined || found === '' || found === null
      ? plainAt(node, [side, 'parsed_body'])
      : undefined;
  return parsed ?? found;
}

/** A body is text, or holds it under `string`; it may be packed. */
function body(node: YamlNode | undefined): unknown {
  if (node === undefined) return undefined;
  const inner =
    node.kind === 'map'
      ? (nodeAt(node, ['string']) ??
        nodeAt(node, ['parsed_body']) ??
        nodeAt(node, ['base64_string']))
      : node;
  // Some recorders write the body itself as YAML.
  if (inner === undefined) return toPlain(node);
  if (inner.kind !== 'scalar') return toPlain(inner);
  if (typeof inner.value !== 'string') return inner.value;
  const isBase64 =
    inner.tag !== undefined || (node.kind === 'map' && nodeAt(node, ['base64_string']) === inner);
  return isBase64 ? bodyOfBytes(Buffer.from(inner.value, 'base64')) : bodyOfText(inner.value);
}
