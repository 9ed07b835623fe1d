export { type Defined, defined } from '../../kit/defined.ts';
