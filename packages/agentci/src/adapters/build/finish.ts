export { finishOf } from '../../trace/finish.ts';
