// Writes the source and the test of a new extension, and all generated files.
//   npm run new check path/max-retries      npm run new reporter teamcity
//   npm run new format my-format            npm run new metric quality/politeness
//   npm run new rule max_same_tool          npm run new command agents
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { templates } from './templates.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [given, name] = process.argv.slice(2);
const kind = given === 'adapter' ? 'format' : given;

if (!Object.hasOwn(templates, kind ?? ''))
  stop(`what should be made? one of: ${Object.keys(templates).join(', ')}`);
const { example, pattern, files } = templates[kind];
if (!pattern.test(name ?? ''))
  stop(
    `"${name ?? ''}" cannot be the name of a ${kind}: lower case with hyphens, as in npm run new ${kind} ${example}`,
  );

const planned = Object.entries(files(name));
for (const [path] of planned) if (existsSync(join(root, path))) stop(`${path} exists already`);
for (const [path, text] of planned) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}
const biome = join(root, 'node_modules', '.bin', 'biome');
const sources = planned.map(([path]) => path).filter((path) => !path.endsWith('.md'));
execFileSync(biome, ['check', '--write', '--log-level=error', ...sources], {
  cwd: root,
  stdio: 'inherit',
});
execFileSync(process.execPath, [join(root, 'scripts', 'gen.mjs')], { stdio: 'inherit' });
console.log(
  `\nNow say what it does: ${planned[0][0]}\nthen run: npm run gen
          npm test -- ${name.split('/').at(-1)}`,
);

function stop(why) {
  console.error(`new: ${why}`);
  process.exit(2);
}
