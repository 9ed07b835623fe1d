// Compares two models and two prompts on the same questions. The models are scripted, so it needs
// no key and no network: node demos/matrix/run.mjs [options of agentci test]
import { testWithScriptedModel } from '../with-scripted-model.mjs';

await testWithScriptedModel(import.meta.url);
