// The scripted model of this demo as a server of its own, for agents that are not written in JavaScript.
import { startScriptedModel } from '@agentci/scripted-model';
import { think } from './scripted-mind.ts';

const { url } = await startScriptedModel({ script: think(process.env.DEMO_MUTATION) });
process.stdout.write(`${url}\n`);
