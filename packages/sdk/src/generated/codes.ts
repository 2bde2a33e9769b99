// Generated from src/domain/failure-catalogue.ts by "npm run generate". Do not edit.

/** Each code of a problem, with what it means. */
export const apiCodes = {
  invalid_request: "The request is not valid",
  invalid_file_path: "The file path is not valid",
  compressed_required: "The field `compressed` is required for a prefix",
  credentials_required: "Credentials are required for a bucket of your own",
  invalid_region: "The region is not known",
  invalid_role_arn: "The role is not valid",
  roles_not_available: "Roles cannot be used here",
  unknown_keys: "A key is unknown",
  idempotency_key_in_use: "A request with this Idempotency-Key is being carried out",
  idempotency_key_reused: "The Idempotency-Key was used for another request",
  unauthenticated: "The API key is missing or wrong",
  invalid_user_token: "The user token is not valid",
  scope_missing: "The API key is not for this",
  not_found: "Not found",
  method_not_allowed: "The path does not have this method",
  request_timeout: "The request took too long to arrive",
  payload_too_large: "The request body is too large",
  unsupported_media_type: "The media type is not supported",
  headers_too_large: "The headers of the request are too large",
  too_many_open_jobs: "Too many jobs are open",
  too_many_requests: "There were too many requests",
  too_many_streams: "Too many streams are open",
  internal: "Something went wrong inside Inlet",
  unavailable: "A part of Inlet is away",
  report_not_ready: "The report is not ready yet",
  issuer_away: "The issuer of user tokens cannot be asked",
} as const;

export type ApiCode = keyof typeof apiCodes;
