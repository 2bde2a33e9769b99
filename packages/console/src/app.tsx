import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { hasExpired } from './api.ts';
import { Page } from './components/page.tsx';
import { Notice, Skeleton } from './components/state.tsx';
import { navigation, pages } from './pages.ts';
import { type SignedIn, homeOf, loadSession, session, signOut } from './session.ts';
import { OpenLink, SignIn } from './sign-in.tsx';

void loadSession();

export function App() {
  return (
    <LocationProvider scope="/console/">
      <Content />
    </LocationProvider>
  );
}

function Content() {
  const { path } = useLocation();
  const current = session.value;
  if (path === '/console/open') return <OpenLink />;
  if (current === undefined) {
    return (
      <main>
        <Skeleton lines={6} />
      </main>
    );
  }
  if (current === null) {
    return (
      <main>
        <Page title="The API did not answer" sub="Check your connection. Then try again.">
          <div>
            <button type="button" onClick={() => void loadSession()}>
              Try again
            </button>
          </div>
        </Page>
      </main>
    );
  }
  if (!current.signed_in || path === '/console/sign-in') return <SignIn methods={current.sign_in} />;
  return <Shell session={current} />;
}

function Shell({ session: { role, name, partner, customer }, session: current }: { readonly session: SignedIn }) {
  const { path } = useLocation();
  const links = navigation.filter(({ roles }) => roles.includes(role));
  const tenant = customer ?? partner;
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header>
        <a class="mark" href={homeOf(current)}>
          Inlet
        </a>
        {links.length > 0 && (
          <nav aria-label="Main">
            <ul>
              {links.map((link) => (
                <li key={link.path}>
                  <a href={link.path} aria-current={path.startsWith(link.path) ? 'page' : undefined}>
                    {link.text}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
        <div class="who">
          <span>
            {[tenant === name ? null : tenant, role === 'link' ? 'read only' : name].filter((part) => part).join(' · ')}
          </span>
          {role !== 'link' && (
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <main id="content">
        {hasExpired.value && (
          <Notice kind="warn">
            Your session has ended.{' '}
            <a
              href={`/console/sign-in?return_to=${encodeURIComponent(path + location.search)}`}
              rel="external"
              target="_top"
            >
              Sign in again
            </a>
          </Notice>
        )}
        <Router>
          {pages
            .filter(({ roles }) => roles.includes(role))
            .map((page) => (
              <Route key={page.path} path={page.path} component={page.component} />
            ))}
          <Route path="/console/" component={() => <Redirect to={homeOf(current)} />} />
          <Route default component={NotFound} />
        </Router>
      </main>
    </div>
  );
}

function Redirect({ to }: { readonly to: string }) {
  const { route } = useLocation();
  useEffect(() => route(to, true), [to]);
  return null;
}

function NotFound() {
  return (
    <Page title="This page does not exist">
      <p>
        Check the address, or go to the <a href="/console/">first page</a>.
      </p>
    </Page>
  );
}
