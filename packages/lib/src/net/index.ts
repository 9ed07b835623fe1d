export { withDeadline } from './deadline.ts';
export { describeRedirect } from './redirect.ts';
export { pause, retryDelay } from './retry-wait.ts';
