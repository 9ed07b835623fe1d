import { Problems } from '../kit/problems.ts';
import { ABSENT_EXPERT, type Expert } from './expert.ts';

/** What is wrong with a spec, and who is asked about values that are not accepted at once. */
export class SpecProblems extends Problems {
  readonly expert: Expert;

  constructor(expert: Expert = ABSENT_EXPERT) {
    super('SPEC_TOO_MANY');
    this.expert = expert;
  }
}
