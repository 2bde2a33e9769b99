import { useEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { hasExpired } from './expiry.ts';
import { Page } from './components/page.tsx';
import { Notice } from './components/state.tsx';
import { visibleText } from './components/visible-text.ts';
import { navigation, pageAt, pages } from './pages.ts';
import { partnerOfLastLink } from './link-memory.ts';
import { OpenLink } from './open-link.tsx';
import { type SignedIn, describeUser, hasClosedReport, homeOf, loadSession, nextUser, session } from './session.ts';
import { SessionWarning } from './session-warning.tsx';
import { ClosedReport, ExpiredLink, SignIn, expiredLinkText } from './sign-in.tsx';
import { SignOut } from './sign-out.tsx';

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
  if (current === null) {
    return (
      <main>
        <Page title="The API did not respond" sub="Check your connection. Then try again.">
          <div>
            <button type="button" onClick={() => void loadSession()}>
              Try again
            </button>
          </div>
        </Page>
      </main>
    );
  }
  const linkPartner = current.signed_in || path === '/console/sign-in' ? null : partnerOfLastLink();
  if (linkPartner !== null) return <ExpiredLink partner={linkPartner} />;
  if (!current.signed_in || path === '/console/sign-in') return <SignIn methods={current.sign_in} />;
  if (hasClosedReport.value) return <ClosedReport partner={current.partner ?? ''} />;
  if (nextUser.value) return <OtherUser shown={current} next={nextUser.value} />;
  return <Shell session={current} />;
}

/** The page would act as the user who signed in last, so it shows none of the earlier user's data. */
function OtherUser({ shown, next }: { readonly shown: SignedIn; readonly next: SignedIn }) {
  if (shown.role === 'link' && next.role === 'link') {
    return (
      <main>
        <Page title="Another report was opened" sub="A browser can keep only one report open at a time.">
          <p>To see this report, open it again from the application of {shown.partner}.</p>
          <div>
            <a class="button primary" href={homeOf(next)} rel="external" target="_top">
              Go to the other report
            </a>
          </div>
        </Page>
      </main>
    );
  }
  return (
    <main>
      <Page title="Another user has signed in" sub="This happened in another tab of this browser.">
        <p>
          This tab belonged to <strong>{describeUser(shown)}</strong>. This browser is now signed in as{' '}
          <strong>{describeUser(next)}</strong>.
        </p>
        <div>
          <a class="button primary" href={homeOf(next)} rel="external" target="_top">
            Continue as {next.name}
          </a>
        </div>
      </Page>
    </main>
  );
}

function Shell({ session: { role, name, partner, customer }, session: current }: { readonly session: SignedIn }) {
  const { path } = useLocation();
  const links = navigation.filter(
    ({ roles, scope }) => roles.includes(role) && (scope === undefined || current.scopes.includes(scope)),
  );
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
            {visibleText(
              [tenant === name ? null : tenant, role === 'link' ? 'read only' : name]
                .filter((part) => part)
                .join(' · '),
            )}
          </span>
          <SignOut isLink={role === 'link'} />
        </div>
      </header>
      <SessionWarning isLink={role === 'link'} />
      <main id="content">
        {hasExpired.value && role === 'link' && <Notice kind="warn">{expiredLinkText(partner ?? '')}</Notice>}
        {hasExpired.value && role !== 'link' && (
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
  const { path } = useLocation();
  const isOfOthers = pageAt(path) !== undefined;
  return (
    <Page title={isOfOthers ? 'Your account has no access to this page' : 'This page does not exist'}>
      <p>
        {isOfOthers ? 'Sign in with another account, or go to' : 'Check the address, or go to'} the{' '}
        <a href="/console/">first page</a>.
      </p>
    </Page>
  );
}
