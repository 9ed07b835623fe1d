/** The remaining budget. A call reserves its maximum cost and returns the rest. */
export interface Budget {
  /** False if the call could exceed the limit and must not be made. */
  reserve(usd: number): boolean;
  settle(reservedUsd: number, actualUsd: number): void;
}

/** A separate budget, such as for `agentci judge audit`. In a run, agent and judge share one. */
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
