// The YAML library makes its schemas and the dumper's patterns when it is loaded; we use its events only, so the rest
// may go.
export const leanYaml = {
  name: 'lean-yaml',
  transform: (code: string, id: string) =>
    /js-yaml[\\/]dist[\\/]js-yaml\.mjs$/.test(id)
      ? code.replace(
          /= (define\w+Tag\(|new Schema\(|new RegExp\(|YAML11_SCHEMA\.withTags\()/g,
          '= /* @__PURE__ */ $1',
        )
      : undefined,
};

// A source with one letter beyond Latin-1 is kept at two bytes a letter, and takes longer to decode and to compile.
export const asciiOnly = {
  name: 'ascii-only',
  generateBundle: (_options: unknown, bundle: Record<string, { type: string; code?: string }>) => {
    for (const output of Object.values(bundle)) {
      if (output.type === 'chunk' && output.code !== undefined)
        output.code = output.code.replace(
          /[\u0080-\uffff]/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
    }
  },
};

interface Node {
  type: string;
  start: number;
}

/** Where a program imports a module when it runs. */
function* importsIn(node: object): Generator<number> {
  if ('type' in node && node.type === 'ImportExpression') yield (node as Node).start;
  for (const child of Object.values(node))
    if (child !== null && typeof child === 'object') yield* importsIn(child);
}

// What src/cli/launch loads has its imports done for it.
export const importsByLoader = {
  name: 'imports-by-loader',
  generateBundle(
    this: { parse: (code: string) => object },
    _options: unknown,
    bundle: Record<string, { type: string; code?: string }>,
  ) {
    for (const output of Object.values(bundle)) {
      if (output.type !== 'chunk' || output.code?.includes('import(') !== true) continue;
      for (const at of [...importsIn(this.parse(output.code))].sort((a, b) => b - a))
        output.code = `${output.code.slice(0, at)}importModule${output.code.slice(at + 'import'.length)}`;
    }
  },
};
