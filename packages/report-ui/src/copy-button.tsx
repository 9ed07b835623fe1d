import { useRef, useState } from 'preact/hooks';

const STATE_TEXT = { '': '', copied: 'copied', 'by hand': 'press Ctrl+C to copy' } as const;

/** Copies a text. Without permission, shows it for manual copying. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<keyof typeof STATE_TEXT>('');
  const [shown, setShown] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  const copy = async () => {
    const value = text();
    setShown(value);
    const isCopied = await write(value);
    setState(isCopied ? 'copied' : 'by hand');
    if (!isCopied) requestAnimationFrame(() => area.current?.select());
  };
  return (
    <span class="copy">
      <button type="button" class="toggle" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" class="sub">
        {STATE_TEXT[state]}
      </span>
      {state === 'by hand' && (
        <textarea ref={area} readOnly rows={6} aria-label={`${label}: the text`} value={shown} />
      )}
    </span>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeOldWay(text);
  }
}

/** Pages opened from a file have no clipboard in some browsers, but a selection can be copied. */
function writeOldWay(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'sr';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
  }
}
