/** Money that may still be spent. A call reserves what it may cost at most and gives back the rest. */
export interface Budget {
  /** False when the call could go beyond the limit: it must not be made. */
  reserve(usd: number): boolean;
  settle(reservedUsd: number, actualUsd: number): void;
}

/** A budget of its own, e.g. for `agentci judge audit`; a run shares one between the agent and the judge. */
export function limitedBudget(limitUsd: number): Budget {
  let committed = 0;
  return {
    reserve: (usd) => {
      if (committed + usd > limitUsd) return false;
      committed += usd;
      return true;
    },
    settle: (reserved, actual) => {
      committed += actual - reserved;
    },
  };
}
