import {
  type Fields,
  isGiven,
  listAt,
  objectAt,
  optionalAmount,
  optionalFlag,
  optionalNumber,
  optionalText,
  optionalTexts,
  refuse,
  textAt,
} from './fields.ts';
import type { Agent, Captured, HandoffStep, MessageStep, ResourceSample, Step } from './model.ts';
import type { StepList } from './step-list.ts';

const MESSAGE_TYPES: ReadonlyMap<string, NonNullable<MessageStep['type']>> = new Map([
  ['request', 'request'],
  ['response', 'response'],
  ['notification', 'notify'],
  ['delegation', 'delegate'],
  ['collaboration', 'collaborate'],
  ['negotiation', 'negotiate'],
  ['conflict', 'conflict'],
  ['notify', 'notify'],
  ['delegate', 'delegate'],
  ['collaborate', 'collaborate'],
  ['negotiate', 'negotiate'],
]);

const MS_PER_SECOND = 1000;
const JOULES_PER_KWH = 3_600_000;
const GRAMS_PER_KG = 1000;

/** Messages between agents → message steps. A list of recipients stays one step. */
function addInteractions(list: StepList, value: unknown, path: string): void {
  for (const [i, item] of listAt(value, path).entries()) {
    const at = `${path}[${i}]`;
    const fields = objectAt(item, at);
    const named = optionalText(fields.interaction_type, `${at}.interaction_type`) ?? 'request';
    const type = MESSAGE_TYPES.get(named);
    const messageType = optionalText(fields.message_type, `${at}.message_type`);
    const responseSeconds = optionalAmount(fields.response_time, `${at}.response_time`);
    const replyTo = optionalText(fields.parent, `${at}.parent`);
    const success = optionalFlag(fields.success, `${at}.success`) ?? true;
    list.add({
      kind: 'message',
      status: success ? 'ok' : 'error',
      from: textAt(fields.from_agent ?? fields.from, `${at}.from_agent`),
      to: recipients(fields.to_agent ?? fields.to, `${at}.to_agent`),
      ...(type === undefined ? { meta: { interaction_type: named } } : { type }),
      messageType,
      responseMs: responseSeconds === undefined ? undefined : responseSeconds * MS_PER_SECOND,
      replyTo,
      content: contentParts(fields.content),
    });
  }
}

function recipients(value: unknown, path: string): string | string[] {
  if (!Array.isArray(value)) return textAt(value, path);
  if (value.length === 0) return refuse(path, 'a list that is not empty', value);
  return value.map((item, i) => textAt(item, `${path}[${i}]`));
}

function contentParts(value: unknown): MessageStep['content'] {
  if (value === undefined || value === null) return [];
  return [
    typeof value === 'string' ? { type: 'text', text: value } : { type: 'json', data: value },
  ];
}

/** Placeholder for an agent that the recording does not name. */
const UNNAMED_AGENT = 'unknown';

/** Transfers of control → handoff steps. A plain text is the agent that took over. */
function addHandoffs(list: StepList, value: unknown, path: string): void {
  for (const [i, item] of listAt(value, path).entries()) {
    const at = `${path}[${i}]`;
    if (typeof item === 'string') {
      list.add({
        kind: 'handoff',
        status: 'ok',
        from: UNNAMED_AGENT,
        to: textAt(item, at),
        mode: 'pass',
      });
      continue;
    }
    const fields = objectAt(item, at);
    const success = optionalFlag(fields.success, `${at}.success`);
    const seconds = optionalAmount(fields.handoff_time, `${at}.handoff_time`);
    const reason = optionalText(fields.reason, `${at}.reason`);
    const to = fields.to ?? fields.to_agent;
    // AgentUnit's handoff measurements may have no names. Any other handoff without a target is an
    // error.
    const isMeasurement = success !== undefined || seconds !== undefined;
    list.add({
      kind: 'handoff',
      status: success === false ? 'error' : 'ok',
      from: optionalText(fields.from ?? fields.from_agent, `${at}.from`) ?? UNNAMED_AGENT,
      to:
        (to === undefined || to === null) && isMeasurement ? UNNAMED_AGENT : textAt(to, `${at}.to`),
      mode: 'pass',
      reason,
      meta: seconds === undefined ? undefined : { durationMs: seconds * MS_PER_SECOND },
    });
  }
}

/** Disagreements between agents → `conflict.raised` events with `resolved` and `resolutionMs`. */
function addConflicts(list: StepList, value: unknown, path: string): void {
  for (const [i, item] of listAt(value, path).entries()) {
    const at = `${path}[${i}]`;
    const { resolved, resolution_time, ...rest } = objectAt(item, at);
    const seconds = optionalAmount(resolution_time, `${at}.resolution_time`);
    list.add({
      kind: 'event',
      name: 'conflict.raised',
      status: 'ok',
      data: {
        ...rest,
        resolved: optionalFlag(resolved, `${at}.resolved`) ?? false,
        resolutionMs: seconds === undefined ? undefined : seconds * MS_PER_SECOND,
      },
    });
  }
}

const DEFAULT_AUTHORITY_LEVEL = 5;

/** A map of agent id → role → agents. A plain text is the name of the role. */
function rolesOf(value: unknown, path: string): Agent[] {
  const roles = objectAt(value, path);
  return Object.keys(roles).map((id) => roleOf(id, roles[id], `${path}.${id}`));
}

function roleOf(id: string, value: unknown, path: string): Agent {
  const fields: Fields = typeof value === 'string' ? { role: value } : objectAt(value, path);
  const role = optionalText(fields.role ?? fields.name, `${path}.role`);
  const model = optionalText(fields.model, `${path}.model`);
  const tools = optionalTexts(fields.tools, `${path}.tools`);
  const canHandOffTo = optionalTexts(fields.can_hand_off_to, `${path}.can_hand_off_to`);
  return {
    id,
    name: id,
    role,
    model,
    tools,
    canHandOffTo,
    authorityLevel:
      optionalNumber(fields.authority_level, `${path}.authority_level`) ?? DEFAULT_AUTHORITY_LEVEL,
    canDelegate: optionalFlag(fields.can_delegate, `${path}.can_delegate`) ?? false,
  };
}

/** One sample or a list, in AgentUnit's units: kWh, kg, percent, MB, seconds. */
export function resourcesOf(value: unknown, path: string): ResourceSample[] {
  if (!Array.isArray(value)) return [resourceOf(objectAt(value, path), path)];
  return value.map((item, i) => resourceOf(objectAt(item, `${path}[${i}]`), `${path}[${i}]`));
}

const READINGS = ['energy_kwh', 'carbon_kg', 'cpu_percent', 'memory_mb', 'gpu_percent'] as const;

export const hasReading = (fields: Fields): boolean =>
  READINGS.some((key) => typeof fields[key] === 'number');

export function resourceOf(fields: Fields, path: string): ResourceSample {
  const read = (key: string): number | undefined => optionalNumber(fields[key], `${path}.${key}`);
  const kwh = read('energy_kwh');
  const kg = read('carbon_kg');
  const cpuPct = read('cpu_percent');
  const rssMb = read('memory_mb');
  const gpuPct = read('gpu_percent');
  const gpuMb = read('gpu_memory_mb');
  const seconds = optionalAmount(fields.duration, `${path}.duration`);
  const agent = optionalText(fields.agent, `${path}.agent`);
  return {
    t: read('t') ?? 0,
    durationMs: seconds === undefined ? undefined : seconds * MS_PER_SECOND,
    cpuPct,
    rssMb,
    gpuPct,
    gpuMb,
    joules: kwh === undefined ? undefined : kwh * JOULES_PER_KWH,
    co2g: kg === undefined ? undefined : kg * GRAMS_PER_KG,
    source: fields.source === 'estimated' ? 'estimated' : 'measured',
    agent,
  };
}

const isBetweenAgents = (step: Step): step is HandoffStep | MessageStep =>
  step.kind === 'handoff' || step.kind === 'message';

const namesAgents = (step: Step): boolean => step.agent !== undefined || isBetweenAgents(step);

/** Every agent that a step names, in order of appearance, for formats that do not list them. */
function agentsOfSteps({ steps }: StepList): Agent[] {
  if (!steps.some(namesAgents)) return [];
  const names = new Set<string>();
  for (const step of steps) {
    if (isBetweenAgents(step)) {
      names.add(step.from);
      for (const to of typeof step.to === 'string' ? [step.to] : step.to) names.add(to);
    }
    if (step.agent !== undefined) names.add(step.agent);
  }
  names.delete(UNNAMED_AGENT);
  return [...names].map((name) => ({ id: name, name }));
}

const LISTS = {
  handoffs: { add: addHandoffs, capability: 'handoffs' },
  interactions: { add: addInteractions, capability: 'messages' },
} as const;

/**
 * Adds the multi-agent fields of a record. Formats list them in different orders, and steps without
 * times keep that order.
 */
export function addMultiAgent(
  list: StepList,
  fields: Fields,
  captured: Captured,
  order: readonly (keyof typeof LISTS)[],
): void {
  for (const key of order) {
    if (!isGiven(fields[key])) continue;
    const { add, capability } = LISTS[key];
    add(list, fields[key], key);
    captured[capability] = 'full';
  }
  if (isGiven(fields.conflicts)) addConflicts(list, fields.conflicts, 'conflicts');
}

/** The agents named by a record, else by its steps. */
export function agentsIn(list: StepList, fields: Fields, captured: Captured): Agent[] {
  if (isGiven(fields.agent_roles)) {
    captured.agents = 'full';
    return rolesOf(fields.agent_roles, 'agent_roles');
  }
  const agents = agentsOfSteps(list);
  if (agents.length > 0) captured.agents = 'partial';
  return agents;
}
