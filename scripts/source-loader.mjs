// Lets Node run the TypeScript sources: node --import ./scripts/source-loader.mjs FILE
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import ts from 'typescript';

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const { outputText: source } = ts.transpileModule(readFileSync(fileURLToPath(url), 'utf8'), {
    compilerOptions: { target: 'ES2023', module: 'ESNext', verbatimModuleSyntax: true },
  });
  return { format: 'module', source, shortCircuit: true };
}
