// The opinions of this demo's scripted judge. They are rules on the rubric and the answer, not a
// model.
/** @param {string} asked the whole of what the judge was sent */
export function opinion(asked) {
  if (/target group|listener on port/.test(asked))
    return [1, 'Gives steps that no document supports.'];
  if (/politely declines/.test(asked))
    return /outside/.test(asked) ? [5, 'Declines and says why.'] : [2, 'Does not decline.'];
  return [5, 'Keeps to the rubric.'];
}

/** Every behavior whose answers need verdicts. */
export const variants = [{}, { RAG_PROMPT: 'v1-broken' }];
/** Baseline versions, and the settings that produce them. */
export const baselines = [
  { version: 'v1-broken', env: { RAG_PROMPT: 'v1-broken' }, force: true },
  { version: 'v2-fixed', env: {} },
];
