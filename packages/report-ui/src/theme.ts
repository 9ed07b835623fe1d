export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'agentci-theme';
const ORDER: readonly Theme[] = ['auto', 'light', 'dark'];

/**
 * The selected theme. `auto` follows the system. Storage may be unavailable for pages opened from a
 * file.
 */
export function theme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  } catch {
    return chosen;
  }
}

let chosen: Theme = 'auto';

export function applyTheme(): void {
  const now = theme();
  if (now === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}

export function nextTheme(): Theme {
  chosen = ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]!;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // The choice then lasts until the page is closed.
  }
  applyTheme();
  // Charts read colors once and listen for this event.
  dispatchEvent(new Event('agentci-theme'));
  return chosen;
}
