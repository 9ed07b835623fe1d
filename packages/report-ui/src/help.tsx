import { useEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['/', 'search'],
  ['j  k  ↓  ↑', 'next and previous query in the list'],
  ['Enter', 'open the query'],
  ['n  p', 'on a query: next and previous of the list'],
  ['Esc', 'back to the list; out of the search'],
  ['t', 'theme: as the system, light, dark'],
  ['?', 'this help'],
] as const;

export function Help({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen && !ref.current?.open) ref.current?.showModal();
  }, [isOpen]);
  return (
    <dialog ref={ref} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
