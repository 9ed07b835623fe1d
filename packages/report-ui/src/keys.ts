import { useLayoutEffect } from 'preact/hooks';

type Handler = (event: KeyboardEvent) => void;
const handlers = new Map<string, Handler>();

/**
 * Binds keys while a component is mounted. Binds during layout, because an effect after the paint
 * could miss a quick key.
 */
export function useKeys(keys: Readonly<Record<string, Handler>>, inputs: readonly unknown[]): void {
  useLayoutEffect(() => bindKeys(keys), inputs);
}

/** Returns a function that unbinds the keys. */
function bindKeys(keys: Readonly<Record<string, Handler>>): () => void {
  for (const [key, handler] of Object.entries(keys)) handlers.set(key, handler);
  return () => {
    for (const [key, handler] of Object.entries(keys))
      if (handlers.get(key) === handler) handlers.delete(key);
  };
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    // Letters belong to a search field. Escape and arrows still leave it.
    if (isTyping(event.target) && !['Escape', 'ArrowDown'].includes(event.key)) return;
    if (event.target instanceof HTMLSelectElement) return;
    const handler = handlers.get(event.key);
    if (!handler) return;
    event.preventDefault();
    handler(event);
  });
}
