import type { CallApi, CallOptions } from './call.ts';
import { connect } from './connect.ts';
import { each } from './each.ts';
import { Operations } from './generated/operations.ts';
import type { AudienceDetails, ImportLog, LoadError } from './generated/schemas.ts';
import type { Result } from './result.ts';
import { type RetrySettings, defaultRetry } from './send.ts';
import { Secret, readAddress } from './settings.ts';
import { type Storage, type StorageSettings, readStorage } from './upload/storage.ts';
import { type UploadFile, type UploadOptions, type Uploaded, uploadFiles } from './upload/upload-files.ts';
import { type WaitOptions, waitForCompletion } from './wait-for-completion.ts';

export type { CallOptions, ServerEvent, WriteOptions } from './call.ts';
export { each, type Page } from './each.ts';
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
export type { RetrySettings } from './send.ts';
export type { StorageSettings } from './upload/storage.ts';
export type { Uploaded, UploadFile, UploadOptions, UploadProgress } from './upload/upload-files.ts';
export type { WaitOptions } from './wait-for-completion.ts';

export type InletSettings = {
  /** Where the api is: `https://…`; `http://` on this machine only, unless `allowHttp` is set. */
  readonly url: string;
  readonly apiKey: string;
  /** Of one customer: audiences are then seen and made for it. */
  readonly userToken?: string | undefined;
  /** What was issued with the key; needed for `upload`. */
  readonly storage?: StorageSettings | undefined;
  /** For each attempt of a call; 30 seconds if nothing is said. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<RetrySettings> | undefined;
  /** For the api and the storage. Keys and files are then readable on the way: only where the network itself is protected. */
  readonly allowHttp?: boolean | undefined;
};

export type ImportJob = { readonly import_log_id: number };
export type AudienceJob = { readonly audience_id: number };

/**
 * A partner's access to Inlet. Every operation of the api is a method. What is thrown is only the constructor's, for
 * settings that cannot be used; all else is in the result.
 */
export class Inlet extends Operations {
  readonly #callApi: CallApi;
  readonly #storage: Storage | null;

  constructor(settings: InletSettings) {
    const { storage, allowHttp = false } = settings;
    const api = connect({
      url: readAddress(settings.url, { name: 'url', sent: 'the key', allowHttp }),
      apiKey: new Secret(settings.apiKey, 'apiKey'),
      userToken: settings.userToken === undefined ? null : new Secret(settings.userToken, 'userToken'),
      timeoutMs: settings.timeoutMs ?? 30_000,
      retry: { ...defaultRetry, ...settings.retry },
    });
    super(api);
    this.#callApi = api.call;
    this.#storage = storage === undefined ? null : readStorage(storage, allowHttp);
  }

  /** Waits until the job is done (status 2) or has failed (status 3): both are a result that is `ok`. */
  waitFor(job: ImportJob, options?: WaitOptions<ImportLog>): Promise<Result<ImportLog>>;
  waitFor(job: AudienceJob, options?: WaitOptions<AudienceDetails>): Promise<Result<AudienceDetails>>;
  waitFor(
    job: ImportJob | AudienceJob,
    options: WaitOptions<ImportLog> & WaitOptions<AudienceDetails> = {},
  ): Promise<Result<ImportLog | AudienceDetails>> {
    if ('import_log_id' in job) {
      const path = `/v1/marketplace/import/${job.import_log_id}`;
      return waitForCompletion<ImportLog>(this.#callApi, { path, proof: 'key' }, options);
    }
    const path = `/v2/firstparty/audience/${job.audience_id}`;
    return waitForCompletion<AudienceDetails>(this.#callApi, { path, proof: 'key and user token' }, options);
  }

  /** The refused rows and failed files of a job, one by one, however many pages they are. */
  rejects(job: ImportJob | AudienceJob, options: CallOptions = {}): AsyncGenerator<Result<LoadError>, void, undefined> {
    const limit = 1000;
    return 'import_log_id' in job
      ? each(({ query }) => this.listImportErrors(job.import_log_id, { ...options, query: { limit, ...query } }))
      : each(({ query }) => this.listAudienceErrors(job.audience_id, { ...options, query: { limit, ...query } }));
  }

  /** Brings files into the partner's prefix of the shared bucket. Import them with the `prefix` of the result. */
  upload(files: readonly UploadFile[], options: UploadOptions = {}): Promise<Result<Uploaded>> {
    return uploadFiles(this.#storage, files, options);
  }
}
