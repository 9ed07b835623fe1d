// The opinions of this demo's scripted judge. They are rules on the rubric and the answer, not a
// model.
/** @param {string} asked the whole of what the judge was sent */
export const opinion = (asked) =>
  /CI: none found/.test(asked)
    ? [5, 'Says that nothing was found.']
    : [2, 'Says more than the tools have shown.'];

/** Every behavior whose answers need verdicts. The Python agent gives the same answers. */
export const variants = [{}];
export const baselines = [{ version: 'v1', env: {} }];
