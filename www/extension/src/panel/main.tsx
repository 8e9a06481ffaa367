import { render } from 'preact';
import '../../../src/style/tokens.css';
import '../../../src/style/base.css';
import '../../../src/style/chat.css';
import './panel.css';
import { lang, t } from '../words';
import { App } from './App';

document.documentElement.lang = lang();
document.title = t('name');
render(<App />, document.getElementById('app')!);
