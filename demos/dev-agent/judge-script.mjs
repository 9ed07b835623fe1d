// What the scripted judge of this demo thinks. It reads the rubric and the answer; it is not a model and knows nothing.
/** @param {string} asked the whole of what the judge was sent */
export const opinion = (asked) =>
  /CI: none found/.test(asked)
    ? [5, 'Says that nothing was found.']
    : [2, 'Says more than the tools have shown.'];

/** Every behaviour whose answers need verdicts; the twin in Python gives the same answers. */
export const variants = [{}];
export const baselines = [{ version: 'v1', env: {} }];
