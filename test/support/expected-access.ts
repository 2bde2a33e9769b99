import type { RequiredScope } from '../../src/domain/caller.ts';

// The response of each operation to a caller with insufficient access. test/acceptance/operation-credentials.test.ts
// compares it with the actual response.

/** The response to another tenant's ID, which must equal the response to an unknown ID. */
export type ForeignAccess =
  /** 404 */
  | 'not_found'
  /** 422 */
  | 'unknown_keys'
  /** A list without the other tenant's data. */
  | 'empty'
  /** The operation has no parameter for an ID of another tenant and uses the caller's own data. */
  | 'own';

export type AccessRow = {
  /**
   * The scope that the key needs, or several scopes, of which the key needs one. `none` if the operation needs no key.
   */
  readonly scope: RequiredScope | 'none';
  readonly ofOtherPartner: ForeignAccess;
  /**
   * The response with another customer's token. `own` means that the operation ignores the token or creates a resource.
   */
  readonly ofOtherCustomer: ForeignAccess;
};

const row = (scope: AccessRow['scope'], ofOtherPartner: ForeignAccess, ofOtherCustomer: ForeignAccess): AccessRow => ({
  scope,
  ofOtherPartner,
  ofOtherCustomer,
});
/** By operation ID. Every operation needs a row. */
export const expectedAccess: Readonly<Record<string, AccessRow>> = {
  listImportLogs: row('marketplace:read', 'empty', 'own'),
  getImportLog: row('marketplace:read', 'not_found', 'own'),
  queueImport: row('marketplace:write', 'own', 'own'),
  dryRunImport: row('marketplace:write', 'own', 'own'),
  deleteAttributeData: row('marketplace:write', 'unknown_keys', 'own'),
  cancelImport: row('marketplace:write', 'not_found', 'own'),
  retryImport: row('marketplace:write', 'not_found', 'own'),
  listImportErrors: row('marketplace:read', 'not_found', 'own'),
  listImportFiles: row('marketplace:read', 'not_found', 'own'),
  requestImportRejects: row('marketplace:write', 'not_found', 'own'),
  getImportRejects: row('marketplace:read', 'not_found', 'own'),
  listImportRejects: row('marketplace:read', 'not_found', 'own'),
  listSubscriptions: row('marketplace:read', 'empty', 'own'),
  getSubscription: row('marketplace:read', 'not_found', 'own'),
  createSubscription: row('marketplace:write', 'own', 'own'),
  updateSubscription: row('marketplace:write', 'not_found', 'own'),
  deleteSubscription: row('marketplace:write', 'not_found', 'own'),
  listSubscriptionObjects: row('marketplace:read', 'not_found', 'own'),
  listAttributes: row('marketplace:read', 'empty', 'own'),
  followImportLog: row('marketplace:read', 'not_found', 'own'),
  createAttribute: row('attributes:write', 'own', 'own'),
  renameAttribute: row('attributes:write', 'not_found', 'own'),
  retireAttribute: row('attributes:write', 'not_found', 'own'),
  tieForeignKeys: row('attributes:write', 'not_found', 'own'),
  untieForeignKeys: row('attributes:write', 'not_found', 'own'),
  listKeys: row('keys:read', 'own', 'own'),
  createKey: row('keys:write', 'own', 'own'),
  rotateKey: row('keys:write', 'not_found', 'own'),
  revokeKey: row('keys:write', 'not_found', 'own'),
  listStorageKeys: row('storage:write', 'own', 'own'),
  rotateStorageKeys: row('storage:write', 'own', 'own'),
  revokeStorageKey: row('storage:write', 'not_found', 'own'),
  listCustomers: row('customers:read', 'empty', 'own'),
  createCustomer: row('customers:write', 'own', 'own'),
  renameCustomer: row('customers:write', 'not_found', 'own'),
  removeCustomer: row('customers:write', 'not_found', 'own'),
  listUserTokens: row('customers:read', 'not_found', 'own'),
  createUserToken: row('customers:write', 'not_found', 'own'),
  revokeUserToken: row('customers:write', 'not_found', 'own'),
  listWebhooks: row('webhooks:write', 'empty', 'own'),
  getWebhook: row('webhooks:write', 'not_found', 'own'),
  createWebhook: row('webhooks:write', 'own', 'own'),
  updateWebhook: row('webhooks:write', 'not_found', 'own'),
  deleteWebhook: row('webhooks:write', 'not_found', 'own'),
  rotateWebhookSecret: row('webhooks:write', 'not_found', 'own'),
  testWebhook: row('webhooks:write', 'not_found', 'own'),
  listWebhookDeliveries: row('webhooks:write', 'not_found', 'own'),
  replayEvents: row('webhooks:write', 'not_found', 'own'),
  requestDeletion: row('privacy:write', 'own', 'own'),
  listDeletions: row('privacy:write', 'empty', 'own'),
  getDeletion: row('privacy:write', 'not_found', 'own'),
  getDeletionProof: row('privacy:write', 'not_found', 'own'),
  getLimits: row('any', 'own', 'own'),
  listAudiences: row('audience:read', 'empty', 'empty'),
  followAudience: row('audience:read', 'not_found', 'not_found'),
  getAudience: row('audience:read', 'not_found', 'not_found'),
  createAudience: row('audience:write', 'own', 'own'),
  appendFiles: row('audience:write', 'not_found', 'not_found'),
  clearAudience: row('audience:write', 'not_found', 'not_found'),
  listAudienceFiles: row('audience:read', 'not_found', 'not_found'),
  dismissFile: row('audience:write', 'not_found', 'not_found'),
  cancelAppend: row('audience:write', 'not_found', 'not_found'),
  retryAppend: row('audience:write', 'not_found', 'not_found'),
  listAudienceHistory: row('audience:read', 'not_found', 'not_found'),
  deleteAudience: row('audience:write', 'not_found', 'not_found'),
  listAudienceErrors: row('audience:read', 'not_found', 'not_found'),
  requestAudienceRejects: row('audience:write', 'not_found', 'not_found'),
  getAudienceRejects: row('audience:read', 'not_found', 'not_found'),
  getComposition: row('audience:read', 'not_found', 'not_found'),
  createConsoleLink: row('audience:read', 'not_found', 'not_found'),
  getOverlap: row('audience:read', 'not_found', 'not_found'),
  startUpload: row(['marketplace:write', 'audience:write'], 'own', 'own'),
  getUpload: row(['marketplace:write', 'audience:write'], 'not_found', 'not_found'),
  completeUpload: row(['marketplace:write', 'audience:write'], 'not_found', 'not_found'),
  abortUpload: row(['marketplace:write', 'audience:write'], 'not_found', 'not_found'),
  listEvents: row(['marketplace:read', 'audience:read'], 'empty', 'empty'),
  listOperatorLanes: row('operator', 'own', 'own'),
  listOperatorJobs: row('operator', 'own', 'own'),
  getOperatorJob: row('operator', 'own', 'own'),
  listOperatorPartners: row('operator', 'own', 'own'),
  getOperatorEngine: row('operator', 'own', 'own'),
  listOperatorBackups: row('operator', 'own', 'own'),
  listOperatorAlerts: row('operator', 'own', 'own'),
  getLive: row('none', 'own', 'own'),
  getReady: row('none', 'own', 'own'),
};
