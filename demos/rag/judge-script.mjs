// What the scripted judge of this demo thinks. It reads the rubric and the answer; it is not a model and knows nothing.
/** @param {string} asked the whole of what the judge was sent */
export function opinion(asked) {
  if (/target group|listener on port/.test(asked))
    return [1, 'Gives steps that no document supports.'];
  if (/politely declines/.test(asked))
    return /outside/.test(asked) ? [5, 'Declines and says why.'] : [2, 'Does not decline.'];
  return [5, 'Keeps to the rubric.'];
}

/** Every behaviour whose answers need verdicts. */
export const variants = [{}, { RAG_PROMPT: 'v1-broken' }];
/** Versions of the baselines, and how each is made. */
export const baselines = [
  { version: 'v1-broken', env: { RAG_PROMPT: 'v1-broken' }, force: true },
  { version: 'v2-fixed', env: {} },
];
