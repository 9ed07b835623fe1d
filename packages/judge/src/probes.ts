/** An answer of clear quality, to detect an inconsistent judge. Judged by `actionable_steps`. */
export interface Probe {
  readonly id: string;
  readonly query: string;
  readonly answer: string;
  readonly expected: 'pass' | 'fail';
}

/** Answers of every quality, mediocre ones included, because judges are least consistent there. */
export const PROBES: readonly Probe[] = [
  {
    id: 'good-password',
    query: 'How do I reset my password?',
    answer:
      '1. Open the login page and click "Forgot password".\n2. Enter the e-mail address of your account and click "Send".\n3. Open the e-mail within an hour and click the link.\n4. Enter the new password twice and click "Save".',
    expected: 'pass',
  },
  {
    id: 'good-install',
    query: 'How do I install the command line tool?',
    answer:
      '1. Install Node 20 or later; `node --version` shows what you have.\n2. Run `npm install --global example-cli`.\n3. Run `example --version`; it prints the version when everything worked.',
    expected: 'pass',
  },
  {
    id: 'middle-export',
    query: 'How do I export my data?',
    answer:
      'Go to the settings, look for the export section, choose a format and start the export. You get an e-mail.',
    expected: 'pass',
  },
  {
    id: 'gap-move',
    query: 'How do I move my account to another organisation?',
    answer:
      'First leave the current organisation. After that an administrator of the other one does the rest.',
    expected: 'fail',
  },
  {
    id: 'vague-speed',
    query: 'How do I make the dashboard load faster?',
    answer:
      'Try to optimise things a little. There are many ways to do that, it depends on your situation.',
    expected: 'fail',
  },
  {
    id: 'none-invoice',
    query: 'How do I get an invoice?',
    answer: 'Invoices are important documents.',
    expected: 'fail',
  },
];

/** Empty padding, to detect a judge that rewards length. */
export const PADDING =
  '\n\nThank you for this interesting question. It is one that many people have, and it is good that it is being asked. Support is always glad to be of help, today and in the future, and wishes you a pleasant day.'.repeat(
    3,
  );
