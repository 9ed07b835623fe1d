// The opinions of this demo's scripted judge. They are rules on the rubric and the answer, not a
// model.
/** @param {string} asked the whole of what the judge was sent */
export function opinion(asked) {
  if (/declines the off-topic/.test(asked))
    return /I am sorry, I can only help/.test(asked)
      ? [5, 'Declines politely.']
      : [2, 'Does not decline.'];
  return /is cancelled|customer number and your code/.test(asked)
    ? [5, 'Addresses the cancellation.']
    : [2, 'Does not address it.'];
}

export const variants = [{}];
export const baselines = [{ version: 'v1', env: {} }];
