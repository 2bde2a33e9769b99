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

/** The worker ends on its own. */
function loadLanguage(): Worker {
  return new Worker(new URL('load-language.ts', import.meta.url), { type: 'module' });
}

/** The placeholders are part of the document, because rendering them here would delay the page. */
async function start(): Promise<void> {
  watchLeaving();
  await loadSession();
  watchSession();
  const root = document.querySelector('#app');
  root?.replaceChildren();
  if (root) render(<App />, root);
}
