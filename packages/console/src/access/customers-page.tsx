import type { Customer, UserToken } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Dialog, Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { signedIn } from '../session.ts';
import './access.css';
import { Field, FormDialog, SecretDialog } from './form-dialog.tsx';

type Opened =
  | { readonly kind: 'create' }
  | { readonly kind: 'rename' | 'remove' | 'tokens'; readonly customer: Customer };

export function CustomersPage() {
  const [version, setVersion] = useState(0);
  const [opened, setOpened] = useState<Opened | null>(null);
  const canWrite = signedIn()?.scopes.includes('customers:write') ?? false;
  const close = (): void => setOpened(null);
  const done = (): void => {
    close();
    setVersion((last) => last + 1);
  };
  return (
    <Page
      title="Customers"
      sub="Customers for which you load audiences. A user token limits a request to the audiences of one customer."
      actions={
        canWrite && (
          <button type="button" class="primary" onClick={() => setOpened({ kind: 'create' })}>
            Create a customer
          </button>
        )
      }
    >
      <PagedTable
        listKey="customers"
        version={version}
        caption="Customers"
        load={(page, signal) => api.listCustomers({ query: page, signal })}
        rowKey={({ customer_id }) => customer_id}
        columns={columnsFor(canWrite ? ['tokens', 'rename', 'remove'] : ['tokens'], setOpened)}
        empty={
          <Empty title="No customers yet">
            <p>Without customers, all audiences are your own.</p>
          </Empty>
        }
      />
      {opened?.kind === 'create' && <NameDialog customer={null} onDone={done} onClose={close} />}
      {opened?.kind === 'rename' && <NameDialog customer={opened.customer} onDone={done} onClose={close} />}
      {opened?.kind === 'tokens' && <TokensDialog customer={opened.customer} canWrite={canWrite} onClose={close} />}
      {opened?.kind === 'remove' && (
        <FormDialog
          title="Remove this customer?"
          submitText="Remove the customer"
          isDangerous
          send={() => api.removeCustomer(opened.customer.customer_id)}
          onDone={done}
          onClose={close}
        >
          <p>
            “<GivenText text={opened.customer.name} />” and its user tokens are removed. A customer with audiences
            cannot be removed.
          </p>
        </FormDialog>
      )}
    </Page>
  );
}

const actionNames = { tokens: 'Tokens', rename: 'Rename', remove: 'Remove' } as const;

function columnsFor(
  kinds: readonly (keyof typeof actionNames)[],
  open: (opened: Opened) => void,
): readonly [Column<Customer>, ...Column<Customer>[]] {
  return [
    { name: 'Customer', cell: ({ name }) => <GivenText text={name} /> },
    { name: 'Customer ID', isNumber: true, cell: ({ customer_id }) => String(customer_id) },
    {
      name: 'Actions',
      cell: (customer) => (
        <div class="row">
          {kinds.map((kind) => (
            <button key={kind} type="button" onClick={() => open({ kind, customer })}>
              {actionNames[kind]}
              <span class="visually-hidden"> of customer {customer.customer_id}</span>
            </button>
          ))}
        </div>
      ),
    },
  ];
}

type NameProps = { readonly customer: Customer | null; readonly onDone: () => void; readonly onClose: () => void };

function NameDialog({ customer, onDone, onClose }: NameProps) {
  const [name, setName] = useState(customer?.name ?? '');
  return (
    <FormDialog
      title={customer ? 'Rename the customer' : 'Create a customer'}
      submitText={customer ? 'Rename' : 'Create'}
      send={() => (customer ? api.renameCustomer(customer.customer_id, { name }) : api.createCustomer({ name }))}
      onDone={onDone}
      onClose={onClose}
    >
      <Field
        label="Name"
        value={name}
        onChange={setName}
        maxLength={100}
        hint="Tokens from an identity provider must contain exactly this name."
      />
    </FormDialog>
  );
}

type TokensProps = { readonly customer: Customer; readonly canWrite: boolean; readonly onClose: () => void };

function TokensDialog({ customer: { customer_id: id, name }, canWrite, onClose }: TokensProps) {
  const [version, setVersion] = useState(0);
  const [made, setMade] = useState<{ readonly secret: string | null } | null>(null);
  const [revoked, setRevoked] = useState<UserToken | null>(null);
  const [isIssuing, setIssuing] = useState(false);
  const changed = (): void => setVersion((last) => last + 1);
  const columns: readonly [Column<UserToken>, ...Column<UserToken>[]] = [
    { name: 'Token ID', cell: ({ token_id }) => String(token_id) },
    { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      name: 'Status',
      cell: (token) =>
        token.revoked_at !== null ? (
          <span class="status">Revoked</span>
        ) : canWrite ? (
          <button type="button" onClick={() => setRevoked(token)}>
            Revoke<span class="visually-hidden"> token {token.token_id}</span>
          </button>
        ) : (
          <span class="status done">Active</span>
        ),
    },
  ];
  if (made) return <SecretDialog name="user token" secret={made.secret} onClose={() => setMade(null)} />;
  if (isIssuing) {
    return (
      <FormDialog
        key="issue"
        title="Issue a user token?"
        submitText="Issue the token"
        send={() => api.createUserToken(id)}
        onDone={({ user_token: secret }) => {
          changed();
          setIssuing(false);
          setMade({ secret });
        }}
        onClose={() => setIssuing(false)}
      >
        <p>The token never expires. Revoke it when it is no longer used.</p>
      </FormDialog>
    );
  }
  if (revoked) {
    return (
      <FormDialog
        key="revoke"
        title={`Revoke token ${revoked.token_id}?`}
        submitText="Revoke the token"
        isDangerous
        send={() => api.revokeUserToken(id, revoked.token_id)}
        onDone={() => {
          changed();
          setRevoked(null);
        }}
        onClose={() => setRevoked(null)}
      >
        <p>All further requests with this token are rejected. This is permanent.</p>
      </FormDialog>
    );
  }
  return (
    <Dialog title="User tokens" onClose={onClose}>
      <p>
        Tokens of “<GivenText text={name} />
        ”. Send a token as <code>x-user-token</code> together with an API key.
      </p>
      <PagedTable
        listKey={`tokens ${id}`}
        version={version}
        caption="User tokens"
        load={(page, signal) => api.listUserTokens(id, { query: page, signal })}
        rowKey={({ token_id }) => token_id}
        columns={columns}
        empty={<Empty title="No user tokens" />}
      />
      <div class="row">
        {canWrite && (
          <button type="button" class="primary" onClick={() => setIssuing(true)}>
            Issue a token
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
