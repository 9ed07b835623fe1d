// Condition C3: a coordinator delegates diagnosis and planning. A reviewer may object, and the
// planner revises.
import { EVIDENCE, type Run, seedOf } from './incident.ts';
import { type Member, Team } from './team.ts';

const MEMBERS = {
  coordinator: { role: 'coordinator', system: 'You coordinate.', authority: 9, canDelegate: true },
  diagnosis: {
    role: 'diagnosis',
    system:
      'You are Diagnosis. Name the service, the version at fault, the version before it, and the cause.',
    authority: 5,
    canDelegate: false,
  },
  planner: {
    role: 'planner',
    system: 'You are Planner. From a diagnosis or an objection, write a numbered list of actions.',
    authority: 6,
    canDelegate: true,
  },
  risk: {
    role: 'risk',
    system:
      'You are Risk. Object to actions that cannot be done or name no version; otherwise say "no objection".',
    authority: 7,
    canDelegate: false,
  },
} as const satisfies Record<string, Member>;

const MAX_REVISIONS = 2;

export default async function severalAgents(query: string, run: Run) {
  const started = performance.now();
  const team = new Team(MEMBERS, seedOf(run));
  const diagnosis = await team.ask(
    'coordinator',
    'diagnosis',
    'delegation',
    `${query}\n\n${EVIDENCE}`,
  );
  let plan = await team.ask('coordinator', 'planner', 'delegation', `Diagnosis: ${diagnosis}`);
  for (let revision = 0; revision < MAX_REVISIONS; revision++) {
    const reviewed = performance.now();
    const review = await team.ask(
      'planner',
      'risk',
      'negotiation',
      `Diagnosis: ${diagnosis}\nPlan:\n${plan}`,
    );
    if (/no objection/i.test(review)) break;
    plan = await team.ask(
      'risk',
      'planner',
      'collaboration',
      `Diagnosis: ${diagnosis}\nObjection: ${review}\nPlan:\n${plan}`,
    );
    const after = await team.ask(
      'planner',
      'risk',
      'negotiation',
      `Diagnosis: ${diagnosis}\nPlan:\n${plan}`,
    );
    const resolved = /no objection/i.test(after);
    team.noteConflict(review, resolved, reviewed);
    if (resolved) break;
  }
  return {
    query,
    answer: plan,
    tool_calls: [],
    ...team.recording(),
    latency_ms: performance.now() - started,
  };
}
