-- Requests that came with an Idempotency-Key and were carried out, so that the same request is not carried out twice. A row
-- is written in the transaction that does what was asked for, and kept for 24 hours.
CREATE TABLE IF NOT EXISTS accepted_request (
  partner_id           bigint NOT NULL REFERENCES partner,
  -- SHA-256 of the key: callers choose it, and it may hold anything.
  key_hash             bytea NOT NULL,
  -- HMAC of what was asked for, to tell another request with the same key. Bodies can hold credentials: none is kept here.
  fingerprint          bytea NOT NULL,
  -- The ids that the answer is made of.
  result               jsonb NOT NULL,
  accepted_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (partner_id, key_hash)
);
CREATE INDEX IF NOT EXISTS accepted_request_oldest ON accepted_request (accepted_at);
