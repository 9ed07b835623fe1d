// A scripted customer talks to a support agent. The model is scripted as well, so it needs no key
// and no network: node demos/conversation/run.mjs [options of agentci test]
import { testWithScriptedModel } from '../with-scripted-model.mjs';

await testWithScriptedModel(import.meta.url);
