import { render } from 'preact';
import { App } from './app.tsx';
import { listenForKeys } from './keys.ts';
import { applyTheme } from './theme.ts';
import 'uplot/dist/uPlot.min.css';
import './style.css';

applyTheme();
listenForKeys();
const place = document.getElementById('app')!;
const draw = (isPrinting: boolean) => render(<App isPrinting={isPrinting} />, place);
draw(false);
// A virtual list only renders visible rows, and paper cannot scroll. `render` at the root is
// synchronous.
addEventListener('beforeprint', () => draw(true));
addEventListener('afterprint', () => draw(false));
