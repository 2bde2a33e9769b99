import { audienceRoutes, partnerRoutes } from '../../src/adapters/http/routes.ts';

/** The existing resources that calls refer to. They can belong to another partner. */
export type Target = {
  readonly importLogId: number;
  readonly failedImportLogId: number;
  readonly attributeId: number;
  readonly audienceId: number;
  /** An audience without devices that has the same owner. */
  readonly otherAudienceId: number;
  readonly segmentId: number;
  readonly fileId: number;
  readonly keyId: number;
  readonly customerId: number;
  readonly tokenId: number;
  /** An append of the audience that has not finished, and one that has failed. */
  readonly openAppendId: number;
  readonly failedAppendId: number;
  /** An audience that has the same owner and that nothing else refers to. */
  readonly doomedAudienceId: number;
  readonly webhookId: number;
  readonly subscriptionId: number;
  readonly deletionId: number;
};

export type Call = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
};

/** A request body for every operation that requires one. */
function bodiesOf({ attributeId, audienceId, otherAudienceId }: Target): Readonly<Record<string, readonly unknown[]>> {
  return {
    queueImport: [
      { file_path: 'any.csv', key_type: 1 },
      {
        file_path: 's3://any-bucket/any.csv',
        path_type: 1,
        key_type: 1,
        credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'x'.repeat(40), region: 'us-east-1' },
      },
    ],
    deleteAttributeData: [
      { key_type: 0, keys: [String(attributeId)] },
      { key_type: 1, keys: ['secret-key'] },
    ],
    dryRunImport: [{ file_path: 'any.csv', key_type: 1 }],
    cancelImport: [{}],
    retryImport: [{ files: 'failed' }, {}],
    requestImportRejects: [{}],
    createSubscription: [{ prefix: 'any/', key_type: 1, compressed: false }],
    updateSubscription: [{ trigger: { marker: '_SUCCESS' } }, { paused: true }, { paused: false }],
    requestDeletion: [{ ids: ['a3f1c2d4-5678-90ab-cdef-1234567890ab'] }, { file_path: 'any.csv' }],
    createWebhook: [{ url: 'https://example.com/any' }],
    updateWebhook: [{ description: 'any' }, { enabled: false }, { enabled: true }],
    replayEvents: [{ sequence: 1 }, { after: 0 }],
    createAudience: [{ name: 'any', file_path: 'any.csv' }],
    appendFiles: [{ file_path: 'any.csv' }, { name: 'any' }],
    retryAppend: [{ files: 'failed' }, {}],
    getOverlap: [{ audience_ids: [audienceId, otherAudienceId] }],
    createAttribute: [{ name: 'any', foreign_keys: ['any-key'] }],
    renameAttribute: [{ name: 'renamed' }],
    retireAttribute: [{}],
    tieForeignKeys: [{ foreign_keys: ['any-key'] }],
    untieForeignKeys: [{ foreign_keys: ['any-key'] }],
    createKey: [{ scopes: ['keys:read'] }],
    rotateKey: [{}],
    createCustomer: [{ name: 'any' }],
    renameCustomer: [{ name: 'renamed' }],
    createUserToken: [{}],
  };
}

/** Queries that need their own statements. */
const queriesOf: Readonly<Record<string, readonly string[]>> = { listAudiences: ['customer=*', 'customer=secret-one'] };

/**
 * Returns one call to each operation, all aimed at the target's records. Read operations come first. Streams are
 * excluded, because they never end and use the same statement as GET to read the record. Uploads are also excluded,
 * because nothing about them is stored in PostgreSQL, and so are storage keys, which
 * test/acceptance/storage-keys.test.ts covers.
 */
export function callsAt(target: Target): Call[] {
  // These operations accept only an import that has ended.
  const ofFailedImport = { import_log_id: target.failedImportLogId };
  const ofOperation: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    retryImport: ofFailedImport,
    requestImportRejects: ofFailedImport,
    getImportRejects: ofFailedImport,
    listImportRejects: ofFailedImport,
    retryAppend: { append_id: target.failedAppendId },
    deleteAudience: { audience_id: target.doomedAudienceId },
  };
  const ids: Readonly<Record<string, number>> = {
    append_id: target.openAppendId,
    import_log_id: target.importLogId,
    audience_id: target.audienceId,
    default_warehouse_segment_id: target.segmentId,
    file_id: target.fileId,
    attribute_id: target.attributeId,
    key_id: target.keyId,
    customer_id: target.customerId,
    token_id: target.tokenId,
    webhook_id: target.webhookId,
    subscription_id: target.subscriptionId,
    deletion_id: target.deletionId,
  };
  const bodies = bodiesOf(target);
  const ending = [...partnerRoutes, ...audienceRoutes].filter(
    ({ response, tag, path }) =>
      response.events === undefined && tag !== 'uploads' && !path.startsWith('/v1/storage-keys'),
  );
  const calls = ending.flatMap(({ id: operation, method, path }) => {
    const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => {
      const id = ofOperation[operation]?.[name] ?? ids[name];
      if (id === undefined) throw new Error(`no ${name} for ${operation}`);
      return String(id);
    });
    const paths = [filled, ...(queriesOf[operation] ?? []).map((query) => `${filled}?${query}`)];
    return paths.flatMap((of) =>
      (bodies[operation] ?? [undefined]).map((body): Call => ({ operation, method, path: of, body })),
    );
  });
  return calls.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** A webhook and a subscription are deleted last, because the other calls need them. */
export const deletesLast = ({ operation }: Call): boolean =>
  operation === 'deleteWebhook' || operation === 'deleteSubscription';

const rankOf = (call: Call): number => (deletesLast(call) ? 2 : Number(isWrite(call)));

export const isWrite = ({ method }: Call): boolean => method !== 'GET';

export type Answer = { readonly status: number; readonly text: string };

/** Sends the calls over a socket, as partners do. */
export async function ask(url: string, call: Call, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const hasBody = call.body !== undefined;
  const answer = await fetch(`${url}${call.path}`, {
    method: call.method,
    headers: hasBody ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(hasBody && { body: JSON.stringify(call.body) }),
  });
  return { status: answer.status, text: (await answer.text()).replaceAll(/"request_id":"[^"]*"/g, '') };
}
