// Generated from src/domain/failure-catalog.ts by "npm run generate". Do not edit.

/** Problem codes and their titles. */
export const apiCodes = {
  invalid_request: "Invalid request",
  invalid_file_path: "Invalid file path",
  compressed_required: "The `compressed` field is required for a prefix",
  credentials_required: "Credentials do not match the path type",
  invalid_region: "Unknown region",
  invalid_role_arn: "Invalid role ARN",
  roles_not_available: "Roles are not available",
  unknown_keys: "Unknown keys",
  file_not_failed: "The file entry has not failed",
  idempotency_key_in_use: "A request with this Idempotency-Key is in progress",
  idempotency_key_reused: "Idempotency-Key was used for a different request",
  quota_exceeded: "Quota exceeded",
  unauthenticated: "API key is missing or invalid",
  invalid_user_token: "User token is invalid",
  scope_missing: "API key lacks the required scope",
  issuer_away: "Identity provider is unavailable",
  not_found: "Not found",
  method_not_allowed: "Method not allowed",
  request_timeout: "Request timeout",
  payload_too_large: "Request body is too large",
  unsupported_media_type: "Unsupported media type",
  headers_too_large: "Request headers are too large",
  too_many_open_jobs: "Too many unfinished jobs",
  too_many_requests: "Too many requests",
  too_many_streams: "Too many open streams",
  report_limit_reached: "Privacy budget is spent",
  internal: "Internal error",
  unavailable: "Service temporarily unavailable",
  topology_mismatch: "ClickHouse topology mismatch",
  report_not_ready: "Report is not ready",
} as const;

export type ApiCode = keyof typeof apiCodes;
