// The opinions of this demo's scripted judge. They are rules on the rubric and the answer, not a
// model.
/** @param {string} asked the whole of what the judge was sent */
export const opinion = (asked) =>
  /Rollback auth-service deployment to v2\.3\.0/.test(asked)
    ? [5, 'An operator could begin at once.']
    : [2, 'Leaves open what to roll back to.'];

export const variants = [{}];
export const baselines = [{ version: 'v1', env: {} }];
