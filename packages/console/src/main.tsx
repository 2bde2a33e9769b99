import { render } from 'preact';
import { App } from './app.tsx';
import { preloadPage } from './pages.ts';
import { loadSession, watchSession } from './session.ts';
import { watchLeaving } from './upload/confirm-leaving.ts';
import './theme.css';
import './base.css';

loadLanguage();
preloadPage(location.pathname);
void start();

/** The worker ends by itself. */
function loadLanguage(): Worker {
  return new Worker(new URL('load-language.ts', import.meta.url), { type: 'module' });
}

/** The document shows the placeholders, because rendering them here would delay the page. */
async function start(): Promise<void> {
  watchLeaving();
  await loadSession();
  watchSession();
  const root = document.querySelector('#app');
  root?.replaceChildren();
  if (root) render(<App />, root);
}
