export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'agentci-theme';
const ORDER: readonly Theme[] = ['auto', 'light', 'dark'];

/** The chosen theme; `auto` follows the system. Storage may be closed to pages opened from a file. */
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
    // The choice then lasts as long as the page.
  }
  applyTheme();
  // Charts are drawn with colours read once; they listen for this.
  dispatchEvent(new Event('agentci-theme'));
  return chosen;
}
