import { Page } from './page.tsx';

export function PageNotLoaded() {
  return (
    <Page
      title="This page could not be loaded"
      sub="Check your connection. A new version may also have been installed."
    >
      <div>
        <button type="button" onClick={() => location.reload()}>
          Load again
        </button>
      </div>
    </Page>
  );
}
