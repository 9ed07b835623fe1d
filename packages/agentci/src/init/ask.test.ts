import { UserError } from '@agentci/lib/problems';
import { expect, test } from 'vitest';
import { askText, choose, type Prompt } from './ask.ts';

function answering(...answers: string[]): Prompt & { readonly said: string[] } {
  const said: string[] = [];
  return { said, say: (text) => void said.push(text), question: async () => answers.shift() };
}

const CI = {
  question: 'Which CI?',
  choices: ['github', 'gitlab', 'none'],
  fallback: 'github',
} as const;

test.each([
  { typed: ['gitlab'], chosen: 'gitlab', said: [] },
  { typed: [''], chosen: 'github', said: [] },
  { typed: ['GitLab '], chosen: 'gitlab', said: [] },
  { typed: ['n'], chosen: 'none', said: [] },
  {
    typed: ['git', 'gith'],
    chosen: 'github',
    said: ['"git" is not one of github, gitlab, none\n'],
  },
  {
    typed: ['gitlb', 'gitlab'],
    chosen: 'gitlab',
    said: ['"gitlb" is not one of github, gitlab, none; did you mean "gitlab"?\n'],
  },
  {
    typed: ['jenkins', ''],
    chosen: 'github',
    said: ['"jenkins" is not one of github, gitlab, none\n'],
  },
])('$typed chooses $chosen and reports invalid input', async ({ typed, chosen, said }) => {
  const prompt = answering(...typed);
  expect(await choose(prompt, CI)).toBe(chosen);
  expect(prompt.said).toEqual(said);
});

test('a text the check refuses is asked for again', async () => {
  const prompt = answering('../x', 'bot');
  const check = (text: string) => {
    if (text.includes('/'))
      throw new UserError('OPTION_INVALID', `"${text}" cannot be used as a name`, {
        hint: 'Use letters.',
      });
    return text;
  };
  expect(await askText(prompt, { question: 'Name', fallback: 'x', check })).toBe('bot');
  expect(prompt.said).toEqual(['"../x" cannot be used as a name. Use letters.\n']);
});

test('input that ends is an error, not an endless question', async () => {
  await expect(choose(answering('nope'), CI)).rejects.toThrow('the input ended');
});
