/** A request for every operation that changes data, with the expected change. */
export type RepeatableRequest = {
  readonly operation: string;
  /** The port method that makes the change. */
  readonly port: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly jobs: number;
  readonly audiences: number;
  readonly generations: number;
};

export const repeatableOperations = [
  'queueImport',
  'deleteAttributeData',
  'createAudience',
  'appendFiles',
  'clearAudience',
] as const;

/** Existing IDs of an audience and an attribute. */
export function repeatableRequest(
  operation: (typeof repeatableOperations)[number],
  of: { readonly audienceId: number; readonly attributeId: number },
): RepeatableRequest {
  const imports = '/v1/marketplace/import';
  const audiences = '/v2/firstparty/audience';
  const one = `${audiences}/${of.audienceId}`;
  const nothing = { jobs: 0, audiences: 0, generations: 0 };
  const requests = {
    queueImport: {
      port: 'importLogs.submitImport',
      method: 'POST',
      path: imports,
      body: JSON.stringify({ file_path: 'nothing.csv', key_type: 1 }),
      jobs: 1,
    },
    deleteAttributeData: {
      port: 'importLogs.submitDelete',
      method: 'DELETE',
      path: imports,
      body: JSON.stringify({ key_type: 0, keys: [String(of.attributeId)] }),
      jobs: 1,
    },
    createAudience: {
      port: 'audiences.create',
      method: 'POST',
      path: audiences,
      body: JSON.stringify({ name: 'Again', file_path: 'nothing/' }),
      jobs: 1,
      audiences: 1,
    },
    appendFiles: {
      port: 'audiences.append',
      method: 'PATCH',
      path: one,
      body: JSON.stringify({ file_path: 'more/' }),
      jobs: 1,
    },
    clearAudience: { port: 'audiences.clear', method: 'PUT', path: one, body: '{}', generations: 1 },
  };
  return { operation, ...nothing, ...requests[operation] };
}
