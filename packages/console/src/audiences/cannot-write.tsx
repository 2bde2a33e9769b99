import { Page } from '../components/page.tsx';
import { Empty } from '../components/state.tsx';

export function CannotWrite({ title }: { readonly title: string }) {
  return (
    <Page title={title}>
      <div class="card">
        <Empty title="You cannot change audiences">
          <p>Your account can only read audiences. Ask your operator for access.</p>
        </Empty>
      </div>
    </Page>
  );
}
