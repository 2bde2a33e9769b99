// Generated from packages/contract/openapi.json by "npm run generate". Do not edit.

import type { Api, CallOptions, ServerEvent, WriteOptions } from '../call.ts';
import type { Answered, Result } from '../result.ts';
import type {
  ApiKey,
  AppendFiles,
  Attribute,
  Audience,
  AudienceDetails,
  AudienceFile,
  AudienceHistoryEntry,
  AudienceRejects,
  CompletedUpload,
  Composition,
  ConsoleLink,
  CreateApiKey,
  CreateAttribute,
  CreateAudience,
  CreateCustomer,
  CreatedApiKey,
  CreatedAudience,
  CreatedSubscription,
  CreatedUserToken,
  CreatedWebhook,
  CreateSubscription,
  CreateWebhook,
  Customer,
  DeleteAttributeData,
  Deletion,
  DeletionProof,
  DryRun,
  Event,
  ImportFile,
  ImportLog,
  Limits,
  Live,
  LoadError,
  LoggedTest,
  OperatorAlerts,
  OperatorBackups,
  OperatorEngine,
  OperatorJob,
  OperatorJobDetails,
  OperatorLane,
  OperatorPartner,
  Overlap,
  OverlapRequest,
  Queued,
  QueuedAppend,
  QueueImport,
  Ready,
  Rejects,
  RejectsFile,
  RenameAttribute,
  RenameCustomer,
  ReplayEvents,
  RequestDeletion,
  RequestedDeletion,
  RequestImportRejects,
  RetryAppend,
  RetryImport,
  RotateApiKey,
  RotatedApiKey,
  RotatedStorageKey,
  RotateStorageKeys,
  StartUpload,
  StorageKey,
  Subscription,
  SubscriptionObject,
  TieForeignKeys,
  UntieForeignKeys,
  UpdateSubscription,
  UpdateWebhook,
  Upload,
  UserToken,
  Webhook,
  WebhookDelivery,
  WebhookSecret,
} from './schemas.ts';

/** One method per API operation. Parameters: path parameters, body, options. */
export class Operations {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** List import logs: `GET /v1/marketplace/import`. */
  listImportLogs(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined; readonly log_type?: '0' | '1' | undefined; readonly path?: string | undefined; readonly created_from?: string | undefined; readonly created_to?: string | undefined } | undefined }): Promise<Answered<readonly ImportLog[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/marketplace/import', query: options?.query, auth: 'key', options });
  }

  /** Queue an import: `POST /v1/marketplace/import`. */
  queueImport(body: QueueImport, options?: WriteOptions): Promise<Answered<Queued>> {
    return this.#api.call({ method: 'POST', path: '/v1/marketplace/import', body, auth: 'key', options });
  }

  /** Delete attribute data: `DELETE /v1/marketplace/import`. */
  deleteAttributeData(body: DeleteAttributeData, options?: WriteOptions): Promise<Answered<Queued>> {
    return this.#api.call({ method: 'DELETE', path: '/v1/marketplace/import', body, auth: 'key', options });
  }

  /** Get an import log: `GET /v1/marketplace/import/{import_log_id}`. */
  getImportLog(import_log_id: number, options?: CallOptions): Promise<Answered<ImportLog>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}`, auth: 'key', options });
  }

  /** Stream the progress of an import: `GET /v1/marketplace/import/{import_log_id}/events`. */
  followImportLog(import_log_id: number, options?: CallOptions): AsyncGenerator<Result<ServerEvent<ImportLog>>, void, undefined> {
    return this.#api.follow({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/events`, auth: 'key', options });
  }

  /** Predict the result of an import: `POST /v1/marketplace/import/dry-run`. */
  dryRunImport(body: QueueImport, options?: WriteOptions): Promise<Answered<DryRun>> {
    return this.#api.call({ method: 'POST', path: '/v1/marketplace/import/dry-run', body, auth: 'key', options });
  }

  /** Cancel an import: `POST /v1/marketplace/import/{import_log_id}/cancel`. */
  cancelImport(import_log_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'POST', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/cancel`, auth: 'key', options });
  }

  /** Retry a failed import: `POST /v1/marketplace/import/{import_log_id}/retry`. */
  retryImport(import_log_id: number, body: RetryImport, options?: WriteOptions): Promise<Answered<Queued>> {
    return this.#api.call({ method: 'POST', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/retry`, body, auth: 'key', options });
  }

  /** List the errors of an import: `GET /v1/marketplace/import/{import_log_id}/errors`. */
  listImportErrors(import_log_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly code?: string | undefined; readonly file?: string | undefined } | undefined }): Promise<Answered<readonly LoadError[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/errors`, query: options?.query, auth: 'key', options });
  }

  /** List the files of an import: `GET /v1/marketplace/import/{import_log_id}/files`. */
  listImportFiles(import_log_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined } | undefined }): Promise<Answered<readonly ImportFile[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/files`, query: options?.query, auth: 'key', options });
  }

  /** Export all rejected rows of an import: `POST /v1/marketplace/import/{import_log_id}/rejects`. */
  requestImportRejects(import_log_id: number, body: RequestImportRejects, options?: WriteOptions): Promise<Answered<Rejects>> {
    return this.#api.call({ method: 'POST', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/rejects`, body, auth: 'key', options });
  }

  /** Get the export of rejected rows: `GET /v1/marketplace/import/{import_log_id}/rejects`. */
  getImportRejects(import_log_id: number, options?: CallOptions): Promise<Answered<Rejects>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/rejects`, auth: 'key', options });
  }

  /** List the exported files of rejected rows: `GET /v1/marketplace/import/{import_log_id}/rejects/files`. */
  listImportRejects(import_log_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly RejectsFile[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/import/${encodeURIComponent(import_log_id)}/rejects/files`, query: options?.query, auth: 'key', options });
  }

  /** List subscriptions: `GET /v1/marketplace/subscriptions`. */
  listSubscriptions(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly Subscription[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/marketplace/subscriptions', query: options?.query, auth: 'key', options });
  }

  /** Create a subscription: `POST /v1/marketplace/subscriptions`. */
  createSubscription(body: CreateSubscription, options?: WriteOptions): Promise<Answered<CreatedSubscription>> {
    return this.#api.call({ method: 'POST', path: '/v1/marketplace/subscriptions', body, auth: 'key', options });
  }

  /** Get a subscription: `GET /v1/marketplace/subscriptions/{subscription_id}`. */
  getSubscription(subscription_id: number, options?: CallOptions): Promise<Answered<Subscription>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/subscriptions/${encodeURIComponent(subscription_id)}`, auth: 'key', options });
  }

  /** Change, pause, or resume a subscription: `PATCH /v1/marketplace/subscriptions/{subscription_id}`. */
  updateSubscription(subscription_id: number, body: UpdateSubscription, options?: WriteOptions): Promise<Answered<Subscription>> {
    return this.#api.call({ method: 'PATCH', path: `/v1/marketplace/subscriptions/${encodeURIComponent(subscription_id)}`, body, auth: 'key', options });
  }

  /** Delete a subscription: `DELETE /v1/marketplace/subscriptions/{subscription_id}`. */
  deleteSubscription(subscription_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/marketplace/subscriptions/${encodeURIComponent(subscription_id)}`, auth: 'key', options });
  }

  /** List the objects of a subscription: `GET /v1/marketplace/subscriptions/{subscription_id}/objects`. */
  listSubscriptionObjects(subscription_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly state?: 'waiting' | 'queued' | 'imported' | 'failed' | 'overwritten' | 'deleted' | 'skipped' | 'marker' | undefined } | undefined }): Promise<Answered<readonly SubscriptionObject[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/marketplace/subscriptions/${encodeURIComponent(subscription_id)}/objects`, query: options?.query, auth: 'key', options });
  }

  /** List attributes: `GET /v1/marketplace/attributes`. */
  listAttributes(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly Attribute[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/marketplace/attributes', query: options?.query, auth: 'key', options });
  }

  /** Create an attribute: `POST /v1/marketplace/attributes`. */
  createAttribute(body: CreateAttribute, options?: WriteOptions): Promise<Answered<Attribute>> {
    return this.#api.call({ method: 'POST', path: '/v1/marketplace/attributes', body, auth: 'key', options });
  }

  /** Rename an attribute: `PATCH /v1/marketplace/attributes/{attribute_id}`. */
  renameAttribute(attribute_id: number, body: RenameAttribute, options?: WriteOptions): Promise<Answered<Attribute>> {
    return this.#api.call({ method: 'PATCH', path: `/v1/marketplace/attributes/${encodeURIComponent(attribute_id)}`, body, auth: 'key', options });
  }

  /** Retire an attribute: `POST /v1/marketplace/attributes/{attribute_id}/retire`. */
  retireAttribute(attribute_id: number, options?: WriteOptions): Promise<Answered<Attribute>> {
    return this.#api.call({ method: 'POST', path: `/v1/marketplace/attributes/${encodeURIComponent(attribute_id)}/retire`, auth: 'key', options });
  }

  /** Add foreign keys to an attribute: `PUT /v1/marketplace/attributes/{attribute_id}/foreign-keys`. */
  tieForeignKeys(attribute_id: number, body: TieForeignKeys, options?: WriteOptions): Promise<Answered<Attribute>> {
    return this.#api.call({ method: 'PUT', path: `/v1/marketplace/attributes/${encodeURIComponent(attribute_id)}/foreign-keys`, body, auth: 'key', options });
  }

  /** Remove foreign keys from an attribute: `DELETE /v1/marketplace/attributes/{attribute_id}/foreign-keys`. */
  untieForeignKeys(attribute_id: number, body: UntieForeignKeys, options?: WriteOptions): Promise<Answered<Attribute>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/marketplace/attributes/${encodeURIComponent(attribute_id)}/foreign-keys`, body, auth: 'key', options });
  }

  /** List API keys: `GET /v1/keys`. */
  listKeys(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly ApiKey[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/keys', query: options?.query, auth: 'key', options });
  }

  /** Create an API key: `POST /v1/keys`. */
  createKey(body: CreateApiKey, options?: WriteOptions): Promise<Answered<CreatedApiKey>> {
    return this.#api.call({ method: 'POST', path: '/v1/keys', body, auth: 'key', options });
  }

  /** Rotate an API key: `POST /v1/keys/{key_id}/rotate`. */
  rotateKey(key_id: number, body: RotateApiKey, options?: WriteOptions): Promise<Answered<RotatedApiKey>> {
    return this.#api.call({ method: 'POST', path: `/v1/keys/${encodeURIComponent(key_id)}/rotate`, body, auth: 'key', options });
  }

  /** Revoke an API key: `DELETE /v1/keys/{key_id}`. */
  revokeKey(key_id: number, options?: WriteOptions & { readonly query?: { readonly force?: 'true' | 'false' | undefined } | undefined }): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/keys/${encodeURIComponent(key_id)}`, query: options?.query, auth: 'key', options });
  }

  /** List storage keys: `GET /v1/storage-keys`. */
  listStorageKeys(options?: CallOptions): Promise<Answered<readonly StorageKey[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/storage-keys', auth: 'key', options });
  }

  /** Rotate the storage keys: `POST /v1/storage-keys/rotate`. */
  rotateStorageKeys(body: RotateStorageKeys, options?: WriteOptions): Promise<Answered<RotatedStorageKey>> {
    return this.#api.call({ method: 'POST', path: '/v1/storage-keys/rotate', body, auth: 'key', options });
  }

  /** Revoke a storage key: `DELETE /v1/storage-keys/{access_key_id}`. */
  revokeStorageKey(access_key_id: string, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/storage-keys/${encodeURIComponent(access_key_id)}`, auth: 'key', options });
  }

  /** List customers: `GET /v1/customers`. */
  listCustomers(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly Customer[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/customers', query: options?.query, auth: 'key', options });
  }

  /** Create a customer: `POST /v1/customers`. */
  createCustomer(body: CreateCustomer, options?: WriteOptions): Promise<Answered<Customer>> {
    return this.#api.call({ method: 'POST', path: '/v1/customers', body, auth: 'key', options });
  }

  /** Rename a customer: `PATCH /v1/customers/{customer_id}`. */
  renameCustomer(customer_id: number, body: RenameCustomer, options?: WriteOptions): Promise<Answered<Customer>> {
    return this.#api.call({ method: 'PATCH', path: `/v1/customers/${encodeURIComponent(customer_id)}`, body, auth: 'key', options });
  }

  /** Remove a customer: `DELETE /v1/customers/{customer_id}`. */
  removeCustomer(customer_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/customers/${encodeURIComponent(customer_id)}`, auth: 'key', options });
  }

  /** List a customer's user tokens: `GET /v1/customers/{customer_id}/tokens`. */
  listUserTokens(customer_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly UserToken[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/customers/${encodeURIComponent(customer_id)}/tokens`, query: options?.query, auth: 'key', options });
  }

  /** Issue a user token: `POST /v1/customers/{customer_id}/tokens`. */
  createUserToken(customer_id: number, options?: WriteOptions): Promise<Answered<CreatedUserToken>> {
    return this.#api.call({ method: 'POST', path: `/v1/customers/${encodeURIComponent(customer_id)}/tokens`, auth: 'key', options });
  }

  /** Revoke a user token: `DELETE /v1/customers/{customer_id}/tokens/{token_id}`. */
  revokeUserToken(customer_id: number, token_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/customers/${encodeURIComponent(customer_id)}/tokens/${encodeURIComponent(token_id)}`, auth: 'key', options });
  }

  /** List webhooks: `GET /v1/webhooks`. */
  listWebhooks(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly Webhook[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/webhooks', query: options?.query, auth: 'key', options });
  }

  /** Create a webhook: `POST /v1/webhooks`. */
  createWebhook(body: CreateWebhook, options?: WriteOptions): Promise<Answered<CreatedWebhook>> {
    return this.#api.call({ method: 'POST', path: '/v1/webhooks', body, auth: 'key', options });
  }

  /** Get a webhook: `GET /v1/webhooks/{webhook_id}`. */
  getWebhook(webhook_id: number, options?: CallOptions): Promise<Answered<Webhook>> {
    return this.#api.call({ method: 'GET', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}`, auth: 'key', options });
  }

  /** Change a webhook: `PATCH /v1/webhooks/{webhook_id}`. */
  updateWebhook(webhook_id: number, body: UpdateWebhook, options?: WriteOptions): Promise<Answered<Webhook>> {
    return this.#api.call({ method: 'PATCH', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}`, body, auth: 'key', options });
  }

  /** Delete a webhook: `DELETE /v1/webhooks/{webhook_id}`. */
  deleteWebhook(webhook_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}`, auth: 'key', options });
  }

  /** Rotate the secret of a webhook: `POST /v1/webhooks/{webhook_id}/rotate`. */
  rotateWebhookSecret(webhook_id: number, options?: WriteOptions): Promise<Answered<WebhookSecret>> {
    return this.#api.call({ method: 'POST', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}/rotate`, auth: 'key', options });
  }

  /** Send a test event: `POST /v1/webhooks/{webhook_id}/test`. */
  testWebhook(webhook_id: number, options?: WriteOptions): Promise<Answered<LoggedTest>> {
    return this.#api.call({ method: 'POST', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}/test`, auth: 'key', options });
  }

  /** List the deliveries of a webhook: `GET /v1/webhooks/{webhook_id}/deliveries`. */
  listWebhookDeliveries(webhook_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: 'pending' | 'delivered' | 'failed' | undefined } | undefined }): Promise<Answered<readonly WebhookDelivery[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}/deliveries`, query: options?.query, auth: 'key', options });
  }

  /** Send events again: `POST /v1/webhooks/{webhook_id}/replay`. */
  replayEvents(webhook_id: number, body: ReplayEvents, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'POST', path: `/v1/webhooks/${encodeURIComponent(webhook_id)}/replay`, body, auth: 'key', options });
  }

  /** Delete devices: `POST /v1/privacy/deletions`. */
  requestDeletion(body: RequestDeletion, options?: WriteOptions): Promise<Answered<RequestedDeletion>> {
    return this.#api.call({ method: 'POST', path: '/v1/privacy/deletions', body, auth: 'key', options });
  }

  /** List deletions: `GET /v1/privacy/deletions`. */
  listDeletions(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined; readonly created_from?: string | undefined; readonly created_to?: string | undefined } | undefined }): Promise<Answered<readonly Deletion[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/privacy/deletions', query: options?.query, auth: 'key', options });
  }

  /** Get a deletion: `GET /v1/privacy/deletions/{deletion_id}`. */
  getDeletion(deletion_id: number, options?: CallOptions): Promise<Answered<Deletion>> {
    return this.#api.call({ method: 'GET', path: `/v1/privacy/deletions/${encodeURIComponent(deletion_id)}`, auth: 'key', options });
  }

  /** Get the proof of a deletion: `GET /v1/privacy/deletions/{deletion_id}/proof`. */
  getDeletionProof(deletion_id: number, options?: CallOptions): Promise<Answered<DeletionProof>> {
    return this.#api.call({ method: 'GET', path: `/v1/privacy/deletions/${encodeURIComponent(deletion_id)}/proof`, auth: 'key', options });
  }

  /** List audiences: `GET /v2/firstparty/audience`. */
  listAudiences(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined; readonly name?: string | undefined; readonly customer?: string | undefined; readonly created_from?: string | undefined; readonly created_to?: string | undefined } | undefined }): Promise<Answered<readonly Audience[]>> {
    return this.#api.call({ method: 'GET', path: '/v2/firstparty/audience', query: options?.query, auth: 'key and user token', options });
  }

  /** Create an audience: `POST /v2/firstparty/audience`. */
  createAudience(body: CreateAudience, options?: WriteOptions): Promise<Answered<CreatedAudience>> {
    return this.#api.call({ method: 'POST', path: '/v2/firstparty/audience', body, auth: 'key and user token', options });
  }

  /** Get the details of an audience: `GET /v2/firstparty/audience/{audience_id}`. */
  getAudience(audience_id: number, options?: CallOptions & { readonly query?: { readonly include_files?: 'true' | 'false' | undefined } | undefined }): Promise<Answered<AudienceDetails>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}`, query: options?.query, auth: 'key and user token', options });
  }

  /** Append files to an audience, or rename it: `PATCH /v2/firstparty/audience/{audience_id}`. */
  appendFiles(audience_id: number, body: AppendFiles, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'PATCH', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}`, body, auth: 'key and user token', options });
  }

  /** Clear an audience: `PUT /v2/firstparty/audience/{audience_id}`. */
  clearAudience(audience_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'PUT', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}`, auth: 'key and user token', options });
  }

  /** Delete an audience: `DELETE /v2/firstparty/audience/{audience_id}`. */
  deleteAudience(audience_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}`, auth: 'key and user token', options });
  }

  /** List the files of an audience: `GET /v2/firstparty/audience/{audience_id}/files`. */
  listAudienceFiles(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined } | undefined }): Promise<Answered<readonly AudienceFile[]>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/files`, query: options?.query, auth: 'key and user token', options });
  }

  /** Stream the status of an audience: `GET /v2/firstparty/audience/{audience_id}/events`. */
  followAudience(audience_id: number, options?: CallOptions & { readonly query?: { readonly include_files?: 'true' | 'false' | undefined } | undefined }): AsyncGenerator<Result<ServerEvent<AudienceDetails>>, void, undefined> {
    return this.#api.follow({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/events`, query: options?.query, auth: 'key and user token', options });
  }

  /** Dismiss a failed audience file: `DELETE /v2/firstparty/audience/{audience_id}/files/{file_id}`. */
  dismissFile(audience_id: number, file_id: string, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}`, auth: 'key and user token', options });
  }

  /** Cancel an append: `POST /v2/firstparty/audience/{audience_id}/appends/{append_id}/cancel`. */
  cancelAppend(audience_id: number, append_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'POST', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/appends/${encodeURIComponent(append_id)}/cancel`, auth: 'key and user token', options });
  }

  /** Retry a failed append: `POST /v2/firstparty/audience/{audience_id}/appends/{append_id}/retry`. */
  retryAppend(audience_id: number, append_id: number, body: RetryAppend, options?: WriteOptions): Promise<Answered<QueuedAppend>> {
    return this.#api.call({ method: 'POST', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/appends/${encodeURIComponent(append_id)}/retry`, body, auth: 'key and user token', options });
  }

  /** List the appends and clears of an audience: `GET /v2/firstparty/audience/{audience_id}/history`. */
  listAudienceHistory(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly AudienceHistoryEntry[]>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/history`, query: options?.query, auth: 'key and user token', options });
  }

  /** Export all rejected rows of an audience file: `POST /v2/firstparty/audience/{audience_id}/files/{file_id}/rejects`. */
  requestAudienceRejects(audience_id: number, file_id: string, options?: WriteOptions): Promise<Answered<AudienceRejects>> {
    return this.#api.call({ method: 'POST', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}/rejects`, auth: 'key and user token', options });
  }

  /** Get the export of a file's rejected rows: `GET /v2/firstparty/audience/{audience_id}/files/{file_id}/rejects`. */
  getAudienceRejects(audience_id: number, file_id: string, options?: CallOptions): Promise<Answered<AudienceRejects>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}/rejects`, auth: 'key and user token', options });
  }

  /** List the errors of an audience: `GET /v2/firstparty/audience/{audience_id}/errors`. */
  listAudienceErrors(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly code?: string | undefined; readonly file?: string | undefined } | undefined }): Promise<Answered<readonly LoadError[]>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/audience/${encodeURIComponent(audience_id)}/errors`, query: options?.query, auth: 'key and user token', options });
  }

  /** Get the composition of an audience: `GET /v2/firstparty/segments/{default_warehouse_segment_id}/composition`. */
  getComposition(default_warehouse_segment_id: number, options?: CallOptions & { readonly query?: { readonly split?: 'id_type' | 'country' | 'event' | undefined; readonly order?: 'devices' | 'index' | 'lowest_index' | undefined; readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly name?: string | undefined; readonly small?: 'include' | 'omit' | undefined; readonly baseline_segment_id?: number | string | undefined; readonly baseline_country?: string | undefined } | undefined }): Promise<Answered<Composition>> {
    return this.#api.call({ method: 'GET', path: `/v2/firstparty/segments/${encodeURIComponent(default_warehouse_segment_id)}/composition`, query: options?.query, auth: 'key and user token', options });
  }

  /** Create a link to the report of an audience in the console: `POST /v2/firstparty/segments/{default_warehouse_segment_id}/console-links`. */
  createConsoleLink(default_warehouse_segment_id: number, options?: WriteOptions): Promise<Answered<ConsoleLink>> {
    return this.#api.call({ method: 'POST', path: `/v2/firstparty/segments/${encodeURIComponent(default_warehouse_segment_id)}/console-links`, auth: 'key and user token', options });
  }

  /** Get the overlap of audiences: `POST /v2/firstparty/overlap`. */
  getOverlap(body: OverlapRequest, options?: WriteOptions): Promise<Answered<Overlap>> {
    return this.#api.call({ method: 'POST', path: '/v2/firstparty/overlap', body, auth: 'key and user token', options });
  }

  /** Start an upload: `POST /v1/uploads`. */
  startUpload(body: StartUpload, options?: WriteOptions): Promise<Answered<Upload>> {
    return this.#api.call({ method: 'POST', path: '/v1/uploads', body, auth: 'key and user token', options });
  }

  /** Get an upload: `GET /v1/uploads/{upload_id}`. */
  getUpload(upload_id: string, options?: CallOptions): Promise<Answered<Upload>> {
    return this.#api.call({ method: 'GET', path: `/v1/uploads/${encodeURIComponent(upload_id)}`, auth: 'key and user token', options });
  }

  /** Abort an upload: `DELETE /v1/uploads/{upload_id}`. */
  abortUpload(upload_id: string, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/uploads/${encodeURIComponent(upload_id)}`, auth: 'key and user token', options });
  }

  /** Complete an upload: `POST /v1/uploads/{upload_id}/complete`. */
  completeUpload(upload_id: string, options?: WriteOptions): Promise<Answered<CompletedUpload>> {
    return this.#api.call({ method: 'POST', path: `/v1/uploads/${encodeURIComponent(upload_id)}/complete`, auth: 'key and user token', options });
  }

  /** List events: `GET /v1/events`. */
  listEvents(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly after?: number | string | undefined; readonly order?: 'asc' | 'desc' | undefined } | undefined }): Promise<Answered<readonly Event[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/events', query: options?.query, auth: 'key and user token', options });
  }

  /** Get your limits: `GET /v1/limits`. */
  getLimits(options?: CallOptions): Promise<Answered<Limits>> {
    return this.#api.call({ method: 'GET', path: '/v1/limits', auth: 'key and user token', options });
  }

  /** List lanes: `GET /v1/operator/lanes`. */
  listOperatorLanes(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly OperatorLane[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/lanes', query: options?.query, auth: 'operator', options });
  }

  /** List jobs of all partners: `GET /v1/operator/jobs`. */
  listOperatorJobs(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly partner?: string | undefined; readonly status?: string | undefined } | undefined }): Promise<Answered<readonly OperatorJob[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/jobs', query: options?.query, auth: 'operator', options });
  }

  /** Get a job of any partner: `GET /v1/operator/jobs/{job_id}`. */
  getOperatorJob(job_id: number, options?: CallOptions): Promise<Answered<OperatorJobDetails>> {
    return this.#api.call({ method: 'GET', path: `/v1/operator/jobs/${encodeURIComponent(job_id)}`, auth: 'operator', options });
  }

  /** List partners: `GET /v1/operator/partners`. */
  listOperatorPartners(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly OperatorPartner[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/partners', query: options?.query, auth: 'operator', options });
  }

  /** Get the state of ClickHouse: `GET /v1/operator/engine`. */
  getOperatorEngine(options?: CallOptions): Promise<Answered<OperatorEngine>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/engine', auth: 'operator', options });
  }

  /** List backups: `GET /v1/operator/backups`. */
  listOperatorBackups(options?: CallOptions): Promise<Answered<OperatorBackups>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/backups', auth: 'operator', options });
  }

  /** List alerts: `GET /v1/operator/alerts`. */
  listOperatorAlerts(options?: CallOptions): Promise<Answered<OperatorAlerts>> {
    return this.#api.call({ method: 'GET', path: '/v1/operator/alerts', auth: 'operator', options });
  }

  /** Check that the process is running: `GET /health/live`. */
  getLive(options?: CallOptions): Promise<Answered<Live>> {
    return this.#api.call({ method: 'GET', path: '/health/live', auth: 'none', options });
  }

  /** Check that requests are accepted: `GET /health/ready`. */
  getReady(options?: CallOptions): Promise<Answered<Ready>> {
    return this.#api.call({ method: 'GET', path: '/health/ready', auth: 'none', acceptedStatuses: [503], options });
  }

  /**
   * List audiences: `GET /v1/firstparty/audience`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  listAudiencesV1(options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined; readonly name?: string | undefined; readonly customer?: string | undefined; readonly created_from?: string | undefined; readonly created_to?: string | undefined } | undefined }): Promise<Answered<readonly Audience[]>> {
    return this.#api.call({ method: 'GET', path: '/v1/firstparty/audience', query: options?.query, auth: 'key and user token', options });
  }

  /**
   * Create an audience: `POST /v1/firstparty/audience`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  createAudienceV1(body: CreateAudience, options?: WriteOptions): Promise<Answered<CreatedAudience>> {
    return this.#api.call({ method: 'POST', path: '/v1/firstparty/audience', body, auth: 'key and user token', options });
  }

  /**
   * Get the details of an audience: `GET /v1/firstparty/audience/{audience_id}`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  getAudienceV1(audience_id: number, options?: CallOptions & { readonly query?: { readonly include_files?: 'true' | 'false' | undefined } | undefined }): Promise<Answered<AudienceDetails>> {
    return this.#api.call({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}`, query: options?.query, auth: 'key and user token', options });
  }

  /**
   * Append files to an audience, or rename it: `PATCH /v1/firstparty/audience/{audience_id}`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  appendFilesV1(audience_id: number, body: AppendFiles, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'PATCH', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}`, body, auth: 'key and user token', options });
  }

  /**
   * Clear an audience: `PUT /v1/firstparty/audience/{audience_id}`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  clearAudienceV1(audience_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'PUT', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}`, auth: 'key and user token', options });
  }

  /**
   * Delete an audience: `DELETE /v1/firstparty/audience/{audience_id}`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  deleteAudienceV1(audience_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}`, auth: 'key and user token', options });
  }

  /**
   * List the files of an audience: `GET /v1/firstparty/audience/{audience_id}/files`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  listAudienceFilesV1(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly status?: string | undefined } | undefined }): Promise<Answered<readonly AudienceFile[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/files`, query: options?.query, auth: 'key and user token', options });
  }

  /**
   * Stream the status of an audience: `GET /v1/firstparty/audience/{audience_id}/events`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  followAudienceV1(audience_id: number, options?: CallOptions & { readonly query?: { readonly include_files?: 'true' | 'false' | undefined } | undefined }): AsyncGenerator<Result<ServerEvent<AudienceDetails>>, void, undefined> {
    return this.#api.follow({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/events`, query: options?.query, auth: 'key and user token', options });
  }

  /**
   * Dismiss a failed audience file: `DELETE /v1/firstparty/audience/{audience_id}/files/{file_id}`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  dismissFileV1(audience_id: number, file_id: string, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'DELETE', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}`, auth: 'key and user token', options });
  }

  /**
   * Cancel an append: `POST /v1/firstparty/audience/{audience_id}/appends/{append_id}/cancel`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  cancelAppendV1(audience_id: number, append_id: number, options?: WriteOptions): Promise<Answered<void>> {
    return this.#api.call({ method: 'POST', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/appends/${encodeURIComponent(append_id)}/cancel`, auth: 'key and user token', options });
  }

  /**
   * Retry a failed append: `POST /v1/firstparty/audience/{audience_id}/appends/{append_id}/retry`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  retryAppendV1(audience_id: number, append_id: number, body: RetryAppend, options?: WriteOptions): Promise<Answered<QueuedAppend>> {
    return this.#api.call({ method: 'POST', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/appends/${encodeURIComponent(append_id)}/retry`, body, auth: 'key and user token', options });
  }

  /**
   * List the appends and clears of an audience: `GET /v1/firstparty/audience/{audience_id}/history`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  listAudienceHistoryV1(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined } | undefined }): Promise<Answered<readonly AudienceHistoryEntry[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/history`, query: options?.query, auth: 'key and user token', options });
  }

  /**
   * Export all rejected rows of an audience file: `POST /v1/firstparty/audience/{audience_id}/files/{file_id}/rejects`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  requestAudienceRejectsV1(audience_id: number, file_id: string, options?: WriteOptions): Promise<Answered<AudienceRejects>> {
    return this.#api.call({ method: 'POST', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}/rejects`, auth: 'key and user token', options });
  }

  /**
   * Get the export of a file's rejected rows: `GET /v1/firstparty/audience/{audience_id}/files/{file_id}/rejects`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  getAudienceRejectsV1(audience_id: number, file_id: string, options?: CallOptions): Promise<Answered<AudienceRejects>> {
    return this.#api.call({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/files/${encodeURIComponent(file_id)}/rejects`, auth: 'key and user token', options });
  }

  /**
   * List the errors of an audience: `GET /v1/firstparty/audience/{audience_id}/errors`.
   * @deprecated This path will be removed. Use the same operation under /v2.
   */
  listAudienceErrorsV1(audience_id: number, options?: CallOptions & { readonly query?: { readonly limit?: number | string | undefined; readonly cursor?: string | undefined; readonly code?: string | undefined; readonly file?: string | undefined } | undefined }): Promise<Answered<readonly LoadError[]>> {
    return this.#api.call({ method: 'GET', path: `/v1/firstparty/audience/${encodeURIComponent(audience_id)}/errors`, query: options?.query, auth: 'key and user token', options });
  }
}
