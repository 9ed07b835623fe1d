/** A time in the form that ids of runs begin with: `20261115-214012345`. Such texts sort by time, and before an id of that moment. */
export const runTime = (at: string): string =>
  // Thousands of lines of a history are put in order; times are nearly always written like this.
  at.length === 24
    ? `${at.slice(0, 4)}${at.slice(5, 7)}${at.slice(8, 10)}-${at.slice(11, 13)}${at.slice(14, 16)}${at.slice(17, 19)}${at.slice(20, 23)}`
    : at.replace(/[-:.Z]/g, '').replace('T', '-');
