/** The public API of the package: a programmable model behind real HTTP. */
export type { Fault, ScriptedReply, ScriptedRequest, ScriptedToolCall } from './script.ts';
export { type ScriptedModel, startScriptedModel } from './server.ts';
