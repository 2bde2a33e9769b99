import { abortUpload } from './routes/abort-upload.ts';
import { appendFiles } from './routes/append-files.ts';
import { cancelAppend } from './routes/cancel-append.ts';
import { cancelImport } from './routes/cancel-import.ts';
import { clearAudience } from './routes/clear-audience.ts';
import { completeUpload } from './routes/complete-upload.ts';
import { createAudience } from './routes/create-audience.ts';
import { createConsoleLink } from './routes/create-console-link.ts';
import { deleteAudience } from './routes/delete-audience.ts';
import { deleteAttributeData } from './routes/delete-attribute-data.ts';
import { dismissFile } from './routes/dismiss-file.ts';
import { dryRunImport } from './routes/dry-run-import.ts';
import { followAudience } from './routes/follow-audience.ts';
import { followImportLog } from './routes/follow-import-log.ts';
import { getAudience } from './routes/get-audience.ts';
import { getAudienceRejects } from './routes/get-audience-rejects.ts';
import { getComposition } from './routes/get-composition.ts';
import { getImportLog } from './routes/get-import-log.ts';
import { getImportRejects } from './routes/get-import-rejects.ts';
import { getLimits } from './routes/get-limits.ts';
import { getOverlap } from './routes/get-overlap.ts';
import { getUpload } from './routes/get-upload.ts';
import { getLive, getReady } from './routes/health.ts';
import { listAttributes } from './routes/list-attributes.ts';
import { listAudienceHistory } from './routes/list-audience-history.ts';
import { listAudienceErrors } from './routes/list-audience-errors.ts';
import { listAudienceFiles } from './routes/list-audience-files.ts';
import { listAudiences } from './routes/list-audiences.ts';
import { listEvents } from './routes/list-events.ts';
import { listImportErrors } from './routes/list-import-errors.ts';
import { listImportFiles } from './routes/list-import-files.ts';
import { listImportLogs } from './routes/list-import-logs.ts';
import { listImportRejects } from './routes/list-import-rejects.ts';
import { getOperatorEngine } from './routes/operator/get-engine.ts';
import { getOperatorJob } from './routes/operator/get-job.ts';
import { listOperatorAlerts } from './routes/operator/list-alerts.ts';
import { listOperatorBackups } from './routes/operator/list-backups.ts';
import { listOperatorJobs } from './routes/operator/list-jobs.ts';
import { listOperatorLanes } from './routes/operator/list-lanes.ts';
import { listOperatorPartners } from './routes/operator/list-partners.ts';
import { createAttribute } from './routes/attributes/create-attribute.ts';
import { renameAttribute } from './routes/attributes/rename-attribute.ts';
import { retireAttribute } from './routes/attributes/retire-attribute.ts';
import { tieForeignKeys } from './routes/attributes/tie-foreign-keys.ts';
import { untieForeignKeys } from './routes/attributes/untie-foreign-keys.ts';
import { createCustomer } from './routes/customers/create-customer.ts';
import { createUserToken } from './routes/customers/create-user-token.ts';
import { listCustomers } from './routes/customers/list-customers.ts';
import { listUserTokens } from './routes/customers/list-user-tokens.ts';
import { removeCustomer } from './routes/customers/remove-customer.ts';
import { renameCustomer } from './routes/customers/rename-customer.ts';
import { revokeUserToken } from './routes/customers/revoke-user-token.ts';
import { createKey } from './routes/keys/create-key.ts';
import { listKeys } from './routes/keys/list-keys.ts';
import { revokeKey } from './routes/keys/revoke-key.ts';
import { rotateKey } from './routes/keys/rotate-key.ts';
import { listStorageKeys } from './routes/keys/list-storage-keys.ts';
import { revokeStorageKey } from './routes/keys/revoke-storage-key.ts';
import { rotateStorageKeys } from './routes/keys/rotate-storage-keys.ts';
import { getDeletion, getDeletionProof, listDeletions, requestDeletion } from './routes/deletions.ts';
import { queueImport } from './routes/queue-import.ts';
import { requestAudienceRejects } from './routes/request-audience-rejects.ts';
import { requestImportRejects } from './routes/request-import-rejects.ts';
import { retryAppend } from './routes/retry-append.ts';
import { retryImport } from './routes/retry-import.ts';
import { startUpload } from './routes/start-upload.ts';
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptionObjects,
  listSubscriptions,
  updateSubscription,
} from './routes/subscriptions.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  replayEvents,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './routes/webhooks.ts';

// Every operation of the API, in the order of the OpenAPI document.

/** Operations that need an API key. */
export const partnerRoutes = [
  listImportLogs,
  getImportLog,
  followImportLog,
  queueImport,
  dryRunImport,
  deleteAttributeData,
  cancelImport,
  retryImport,
  listImportErrors,
  listImportFiles,
  requestImportRejects,
  getImportRejects,
  listImportRejects,
  listSubscriptions,
  getSubscription,
  createSubscription,
  updateSubscription,
  deleteSubscription,
  listSubscriptionObjects,
  listAttributes,
  createAttribute,
  renameAttribute,
  retireAttribute,
  tieForeignKeys,
  untieForeignKeys,
  listKeys,
  createKey,
  rotateKey,
  revokeKey,
  listStorageKeys,
  rotateStorageKeys,
  revokeStorageKey,
  listCustomers,
  createCustomer,
  renameCustomer,
  listUserTokens,
  createUserToken,
  revokeUserToken,
  removeCustomer,
  listWebhooks,
  getWebhook,
  createWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  replayEvents,
  requestDeletion,
  listDeletions,
  getDeletion,
  getDeletionProof,
];

/** Operations that need an API key and accept a user token. */
export const audienceRoutes = [
  listAudiences,
  getAudience,
  listAudienceFiles,
  followAudience,
  createAudience,
  appendFiles,
  dismissFile,
  cancelAppend,
  retryAppend,
  listAudienceHistory,
  requestAudienceRejects,
  getAudienceRejects,
  clearAudience,
  deleteAudience,
  listAudienceErrors,
  getComposition,
  createConsoleLink,
  getOverlap,
  startUpload,
  getUpload,
  completeUpload,
  abortUpload,
  listEvents,
  getLimits,
];

/** Operations for operators, which read the data of all partners. */
export const operatorRoutes = [
  listOperatorLanes,
  listOperatorJobs,
  getOperatorJob,
  listOperatorPartners,
  getOperatorEngine,
  listOperatorBackups,
  listOperatorAlerts,
];

/** Operations that need no API key. */
export const publicRoutes = [getLive, getReady];

/** A heading in the specification also names these paths. They have been deprecated since the first release. */
export const deprecatedRoutes = audienceRoutes
  .filter(({ path }) => path.startsWith('/v2/firstparty/audience'))
  .map((route) => ({ ...route, path: route.path.replace('/v2/', '/v1/'), deprecated: true }));
