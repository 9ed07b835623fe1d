interface Run {
  readonly answer: string | null;
}

export const isPolite = ({ answer }: Run) => ({
  status: /\b(?:please|thank)/i.test(answer ?? '') ? 'pass' : 'fail',
  message: 'says please or thank you',
});

export const isShort = ({ answer }: Run): boolean => (answer ?? '').length < 500;
