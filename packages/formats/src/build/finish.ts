export { finishOf } from '@agentci/trace';
