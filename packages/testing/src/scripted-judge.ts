import {
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { onTestFinished } from 'vitest';

/** A verdict as a judge model writes it. */
export const verdictText = (
  score: number,
  label = score >= 3 ? 'pass' : 'fail',
  rationale = `worth ${score}`,
): string => JSON.stringify({ rationale, score, label });

/** A scripted model for one test; gone when the test is over. */
export async function scriptedModel(
  script:
    | readonly ScriptedReply[]
    | ((request: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>),
): Promise<ScriptedModel> {
  const model = await startScriptedModel({ script });
  onTestFinished(() => model.close());
  return model;
}
