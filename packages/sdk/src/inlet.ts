import type { CallApi, CallOptions, WriteOptions } from './call.ts';
import { connect } from './connect.ts';
import { each } from './each.ts';
import { Operations } from './generated/operations.ts';
import type { Answered, Result } from './result.ts';
import { type EventOptions, followLog } from './follow-log.ts';
import type { AudienceDetails, Event, ImportLog, LoadError } from './generated/schemas.ts';
import { type RetrySettings, defaultRetry } from './send.ts';
import { Secret, readAddress } from './settings.ts';
import { type Storage, type StorageSettings, readStorage } from './upload/storage.ts';
import { type UploadFile, type UploadOptions, type Uploaded, uploadFiles } from './upload/upload-files.ts';
import { type AudienceWaitOptions, type WaitOptions, waitForCompletion } from './wait-for-completion.ts';

export type { CallOptions, ServerEvent, WriteOptions } from './call.ts';
export { each, type Page } from './each.ts';
export { type SelectableEventType, isSelectableEventType, selectableEventTypes } from './event-types.ts';
export type { ApiCode } from './generated/codes.ts';
export type * from './generated/schemas.ts';
export type {
  Answer,
  Answered,
  ApiProblem,
  LocalCode,
  LocalProblem,
  Problem,
  Result,
  StorageAnswer,
} from './result.ts';
export type { EventOptions } from './follow-log.ts';
export type { RetrySettings } from './send.ts';
export type { StorageSettings } from './upload/storage.ts';
export type { Uploaded, UploadFile, UploadOptions, UploadProgress } from './upload/upload-files.ts';
export { verifyWebhook } from './verify-webhook.ts';
export type { WaitOptions } from './wait-for-completion.ts';
export { InvalidWebhook, type WebhookHeaders, signWebhook } from './webhook-signature.ts';

export type InletSettings = {
  /** API URL, which must be `https://…`. `http://` is accepted only for this machine or with `allowHttp`. */
  readonly url: string;
  readonly apiKey: string;
  /** User token of a customer. If it is set, audience operations act for that customer. */
  readonly userToken?: string | undefined;
  /** Storage credentials. Required for `upload`. */
  readonly storage?: StorageSettings | undefined;
  /** Timeout of each attempt. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<RetrySettings> | undefined;
  /** Allows unencrypted http for the API and the storage. Use it only on a protected network. */
  readonly allowHttp?: boolean | undefined;
};

export type ImportJob = { readonly import_log_id: number };
export type AudienceJob = { readonly audience_id: number };

/**
 * Client for the Inlet API. Every operation is a method. The constructor throws if the settings are invalid. All other
 * errors are returned in the result.
 */
export class Inlet extends Operations {
  readonly #callApi: CallApi;
  readonly #retry: RetrySettings;
  readonly #storage: Storage | null;

  constructor(settings: InletSettings) {
    const { storage, allowHttp = false } = settings;
    const retry = { ...defaultRetry, ...settings.retry };
    const api = connect({
      url: readAddress(settings.url, { name: 'url', sent: 'the key', allowHttp }),
      credentials: {
        apiKey: new Secret(settings.apiKey, 'apiKey'),
        userToken: settings.userToken === undefined ? null : new Secret(settings.userToken, 'userToken'),
      },
      timeoutMs: settings.timeoutMs ?? 30_000,
      retry,
    });
    super(api);
    this.#callApi = api.call;
    this.#retry = retry;
    this.#storage = storage === undefined ? null : readStorage(storage, allowHttp);
  }

  /** Waits until the status is 2 (done) or 3 (failed). In both cases, the result is `ok`. */
  waitFor(job: ImportJob, options?: WaitOptions<ImportLog>): Promise<Result<ImportLog>>;
  waitFor(job: AudienceJob, options?: AudienceWaitOptions<AudienceDetails>): Promise<Result<AudienceDetails>>;
  waitFor(
    job: ImportJob | AudienceJob,
    options: WaitOptions<ImportLog> & AudienceWaitOptions<AudienceDetails> = {},
  ): Promise<Result<ImportLog | AudienceDetails>> {
    if ('import_log_id' in job) {
      const path = `/v1/marketplace/import/${job.import_log_id}`;
      return waitForCompletion<ImportLog>(this.#callApi, { path, auth: 'key' }, options);
    }
    const path = `/v2/firstparty/audience/${job.audience_id}`;
    const query = options.includeFiles === false ? { include_files: 'false' } : {};
    return waitForCompletion<AudienceDetails>(this.#callApi, { path, query, auth: 'key and user token' }, options);
  }

  /** Renames an audience. It is the same operation as an append, but with a name instead of a path. */
  renameAudience(audience_id: number, name: string, options?: WriteOptions): Promise<Answered<void>> {
    return this.appendFiles(audience_id, { name }, options);
  }

  /** Yields the rejected rows and failed files of a job, across all pages. */
  rejects(job: ImportJob | AudienceJob, options: CallOptions = {}): AsyncGenerator<Result<LoadError>, void, undefined> {
    const limit = 1000;
    return 'import_log_id' in job
      ? each(({ query }) => this.listImportErrors(job.import_log_id, { ...options, query: { limit, ...query } }))
      : each(({ query }) => this.listAudienceErrors(job.audience_id, { ...options, query: { limit, ...query } }));
  }

  /**
   * Yields the events of the event log and then new ones, until the signal is aborted. API outages do not end it. Any
   * other problem is yielded last.
   */
  events(options: EventOptions = {}): AsyncGenerator<Result<Event>, void, undefined> {
    return followLog(this.#callApi, options, this.#retry);
  }

  /** Uploads files to the partner's prefix in the shared bucket. To import them, use the `prefix` in the result. */
  upload(files: readonly UploadFile[], options: UploadOptions = {}): Promise<Result<Uploaded>> {
    return uploadFiles(this.#storage, files, options);
  }
}
