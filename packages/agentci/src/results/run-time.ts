/** A time in the form that ids of runs begin with: `20261115-214012345`. Such texts sort by time, and before an id of that moment. */
export const runTime = (at: string): string => at.replace(/[-:.Z]/g, '').replace('T', '-');
