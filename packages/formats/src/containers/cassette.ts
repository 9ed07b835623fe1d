import { nodeAt, parseYaml, toPlain, type YamlNode } from '@agentci/lib/yaml';
import { fields } from '../build/values.ts';
import { bodyOfBytes, bodyOfText } from './http-body.ts';
import { indentQuoted } from './indent-quoted.ts';
import { nothingRecorded, type Unpacked, type UnpackedRecord } from './unpacked.ts';

/** Ruby writes the last one. */
const BINARY = ['!!binary', 'tag:yaml.org,2002:binary', '!binary'];

/**
 * Cassettes of HTTP recorders (VCR and similar): each interaction is one record, `{method, uri,
 * request, status, response}`, with JSON bodies parsed. Headers are dropped, because they hold
 * keys.
 */
export function unpackCassette(bytes: Uint8Array): Unpacked {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const strict = parsed(text);
  const { list, diagnostics } = strict.list === undefined ? parsed(indentQuoted(text)) : strict;
  if (list === undefined) {
    const [first] = strict.diagnostics.length > 0 ? strict.diagnostics : diagnostics;
    return {
      records: [],
      problems: [
        {
          code: 'TRACE_DAMAGED',
          message: first?.message ?? 'the cassette has no interactions',
          line: first?.line ?? 1,
        },
      ],
    };
  }
  if (list.length === 0) return nothingRecorded('cassette');
  return { records: list.map(interaction) };
}

/** One request and response. */
interface Interaction {
  readonly request: YamlNode | undefined;
  readonly response: YamlNode | undefined;
}

function parsed(text: string) {
  const { root, diagnostics } = parseYaml(text, { file: 'cassette', tags: BINARY });
  return { list: root === undefined ? undefined : interactionsIn(root), diagnostics };
}

/** A list of pairs, or two parallel lists of requests and responses. */
function interactionsIn(root: YamlNode): readonly Interaction[] | undefined {
  const list = nodeAt(root, ['interactions']) ?? nodeAt(root, ['http_interactions']);
  if (list?.kind === 'seq')
    return list.items.map((item) => ({
      request: nodeAt(item, ['request']),
      response: nodeAt(item, ['response']),
    }));
  const [requests, responses] = [nodeAt(root, ['requests']), nodeAt(root, ['responses'])];
  return requests?.kind === 'seq' && responses?.kind === 'seq'
    ? requests.items.map((request, i) => ({ request, response: responses.items[i] }))
    : undefined;
}

function interaction({ request: asked, response }: Interaction): UnpackedRecord {
  const request = fields(plain(asked));
  const { status, status_code, code: number } = fields(plain(response));
  const code = typeof status === 'number' ? status : (fields(status).code ?? number ?? status_code);
  return {
    value: {
      method: request.method,
      uri: request.uri ?? request.url,
      request: bodyIn(asked),
      status: code,
      response: bodyIn(response),
    },
  };
}

const plain = (node: YamlNode | undefined): unknown =>
  node === undefined ? undefined : toPlain(node);

/** Some recorders keep a parsed body next to its text, and older ones use another key. */
function bodyIn(side: YamlNode | undefined): unknown {
  if (side === undefined) return undefined;
  const found = body(nodeAt(side, ['body']) ?? nodeAt(side, ['content']));
  const isEmpty = found === undefined || found === '' || found === null;
  return (isEmpty ? plain(nodeAt(side, ['parsed_body'])) : undefined) ?? found;
}

/** A body is text, or has it under `string`, possibly compressed. */
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
