// Generates the pages of the commands from their `--help`.
import { createRequire } from 'node:module';

// The package's version, because the root may have a different one from another tool.
const { Command } = createRequire(new URL('../packages/agentci/package.json', import.meta.url))(
  'commander',
);

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;

/** A command's page: usage, arguments, every option, and the notes and examples of its help. */
export function commandPage(command) {
  let after = '';
  const parser = new Command(`agentci ${command.name}`)
    .description(command.summary)
    .configureOutput({
      writeOut: (text) => {
        after += text;
      },
    });
  command.configure(parser);
  parser.configureHelp({ formatHelp: () => '' });
  parser.outputHelp();
  const options = parser.options.filter(({ hidden }) => !hidden);
  const lines = [
    `# \`agentci ${command.name}\``,
    '',
    `${command.summary[0].toUpperCase()}${command.summary.slice(1)}.`,
    '',
    '```text',
    `agentci ${command.name} ${usage(parser)}`,
    '```',
    '',
  ];
  if (parser.registeredArguments.length > 0) {
    lines.push('| argument | what it is |', '| --- | --- |');
    for (const argument of parser.registeredArguments)
      lines.push(
        `| ${code(argumentName(argument))} | ${cell(argument.description)}${fallback(argument)} |`,
      );
    lines.push('');
  }
  lines.push('## Options', '', '| option | what it does |', '| --- | --- |');
  for (const option of options)
    lines.push(
      `| ${code(option.flags)} | ${cell(option.description)}${choices(option)}${fallback(option)} |`,
    );
  lines.push(`| \`-h, --help\` | show all this in the terminal |`, '');
  if (after.trim() !== '') lines.push('## Notes', '', '```text', after.trim(), '```', '');
  return lines.join('\n');
}

/** The list of all commands. */
export function commandsPage(commands) {
  return [
    '# Commands',
    '',
    'Every command explains itself with `--help`; these pages say the same.',
    '',
    '| command | what it does |',
    '| --- | --- |',
    ...commands.map(
      ({ name, summary }) => `| [\`agentci ${name}\`](${name}.md) | ${cell(summary)} |`,
    ),
    '',
    '`agentci --help` lists the commands, `agentci --version` prints the version.',
    '',
    'Exit codes: **0** nothing failed (warnings allowed) · **1** a check failed · **2** could not tell · **130** interrupted.',
    '',
  ].join('\n');
}

const usage = (parser) => ['[options]', ...parser.registeredArguments.map(argumentName)].join(' ');

function argumentName(argument) {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

const choices = ({ argChoices }) =>
  argChoices ? `; one of ${argChoices.map(code).join(', ')}` : '';

function fallback({ defaultValue, defaultValueDescription, description }) {
  if (defaultValue === undefined || defaultValue === false || /\(default/.test(description))
    return '';
  return ` (default: ${code(defaultValueDescription ?? [defaultValue].flat().join(' '))})`;
}
