import type { Step } from './model.ts';

type Unnumbered<S> = S extends Step ? Omit<S, 'id' | 'seq'> : never;

/**
 * Numbers steps in the order they are added, from 1, so that "step 3" in a message is the third
 * one.
 */
export class StepList {
  readonly steps: Step[] = [];

  add(step: Unnumbered<Step>): string {
    const { id, seq } = this.next;
    this.steps.push({ id, seq, ...step } as Step);
    return id;
  }

  /**
   * Id and number of the next step, because copying a step by spread costs as much as reading it.
   */
  get next(): Pick<Step, 'id' | 'seq'> {
    const seq = this.steps.length + 1;
    return { id: `s${seq}`, seq };
  }
}
