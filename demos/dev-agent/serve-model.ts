// The scripted model of this demo as a separate server, for agents in other languages.
import { startScriptedModel } from '@agentci/scripted-model';
import { think } from './scripted-mind.ts';

const { url } = await startScriptedModel({ script: think(process.env.DEMO_MUTATION) });
process.stdout.write(`${url}\n`);
