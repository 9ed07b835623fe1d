import { render } from 'preact';
import { listenForKeys } from '../keys.ts';
import { applyTheme } from '../theme.ts';
import { LabelApp } from './label-app.tsx';
import '../style.css';
import './label.css';

applyTheme();
listenForKeys();
render(<LabelApp />, document.getElementById('app')!);
