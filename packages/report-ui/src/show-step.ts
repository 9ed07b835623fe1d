/** Opens a step of the trajectory with all its folded parents, and scrolls to it. */
export function showStep(seq: number): void {
  const step = document.getElementById(`step-${seq}`);
  if (!(step instanceof HTMLDetailsElement)) return;
  for (let at: HTMLElement | null = step; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  step.scrollIntoView({ block: 'center' });
  step.querySelector('summary')?.focus({ preventScroll: true });
}
