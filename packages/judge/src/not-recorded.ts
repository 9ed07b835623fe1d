import type { JudgeTask } from './port.ts';

/** Why `--judge recorded` has no stored verdict or reply. */
export function whyNotRecorded(
  model: string,
  { damaged, task }: { readonly damaged: string | false; readonly task: JudgeTask | undefined },
): string {
  if (task === undefined)
    return damaged === false
      ? `no verdict of ${model} on this answer is stored, and --judge recorded makes no calls`
      : `the stored verdict file ${damaged} is damaged: delete it, or judge again with --judge live`;
  return damaged === false
    ? `no ${task.what ?? 'reply'} by ${model} is stored, and --judge recorded makes no calls; run once with --judge live to store it`
    : `the stored reply file ${damaged} is damaged: delete it, or run again with --judge live`;
}
