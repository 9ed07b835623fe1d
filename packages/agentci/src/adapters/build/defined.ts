export { defined } from '../../kit/defined.ts';
