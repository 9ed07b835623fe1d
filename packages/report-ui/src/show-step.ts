/** Opens a step of the trajectory, with whatever it is folded into, and goes there. */
export function showStep(seq: number): void {
  const step = document.getElementById(`step-${seq}`);
  if (!(step instanceof HTMLDetailsElement)) return;
  for (let at: HTMLElement | null = step; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  step.scrollIntoView({ block: 'center' });
  step.querySelector('summary')?.focus({ preventScroll: true });
}
