import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/layout.css';
import './style/chat.css';
import './style/strata.css';
import './style/places.css';
import './style/persona.css';
import './shell/theme';
import { App } from './shell/App';

render(<App />, document.getElementById('app')!);
