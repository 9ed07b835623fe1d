/** The keys of a policy. */
export const ROOT_KEYS = [
  ...[
    'version',
    'name',
    'description',
    'tools',
    'definitions',
    '$defs',
    'schemas',
    'enforcement',
    'limits',
  ],
  ...['aliases', 'sequences', 'rules', 'flows', 'blocklist', 'examples'],
];
/** The keys of a tool. */
export const TOOL_KEYS = [
  'description',
  'arguments',
  'required',
  'additionalProperties',
  'on_violation',
];
/** The keys of `limits`. */
export const LIMITS = ['max_tool_calls_total', 'max_requests_total'];
/**
 * Keys of other Assay policies that cannot be checked on a recording. They are rejected, because
 * ignoring them would look like a pass.
 */
export const NOT_ENFORCED = new Set([
  ...['signatures', 'tool_pins', 'discovery', 'runtime_monitor', 'kill_switch', 'on_error'],
  ...['allow_classes', 'deny_classes', 'approval_required', 'restrict_scope', 'redact_args'],
]);
/** Keys with a different location here. */
export const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['allow', 'write it under "tools"'],
  ['deny', 'write it under "tools"'],
  ['constraints', 'write it as tools.<name>.arguments'],
  ['arg_constraints', 'write it as tools.<name>.arguments'],
  ['require_args', 'write it as "required: true" under tools.<name>.arguments'],
]);
