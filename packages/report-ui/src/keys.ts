type Handler = (event: KeyboardEvent) => void;
const handlers = new Map<string, Handler>();

/** Binds keys while a component is shown; gives the function that lets them go. */
export function bindKeys(keys: Readonly<Record<string, Handler>>): () => void {
  for (const [key, handler] of Object.entries(keys)) handlers.set(key, handler);
  return () => {
    for (const [key, handler] of Object.entries(keys)) if (handlers.get(key) === handler) handlers.delete(key);
  };
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    // Someone who types a search means letters; Escape and arrows still leave the field.
    if (isTyping(event.target) && !['Escape', 'ArrowDown'].includes(event.key)) return;
    if (event.target instanceof HTMLSelectElement) return;
    const handler = handlers.get(event.key);
    if (!handler) return;
    event.preventDefault();
    handler(event);
  });
}
