import {
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { onTestFinished } from 'vitest';

/** A verdict in the format of a judge model. */
export const verdictText = (
  score: number,
  label = score >= 3 ? 'pass' : 'fail',
  rationale = `worth ${score}`,
): string => JSON.stringify({ rationale, score, label });

/** A scripted model for one test, stopped after the test. */
export async function scriptedModel(
  script:
    | readonly ScriptedReply[]
    | ((request: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>),
): Promise<ScriptedModel> {
  const model = await startScriptedModel({ script });
  onTestFinished(() => model.close());
  return model;
}
