-- outside a transaction
-- Indexes for the filters of lists. See "filters" in docs/decisions/idempotency.md.
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_of_status ON job (partner_id, kind, status, id DESC) WHERE kind <> 'audience';
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_created ON job (partner_id, created_at) WHERE kind <> 'audience';
CREATE INDEX CONCURRENTLY IF NOT EXISTS import_log_path ON import_log (partner_id, file_path COLLATE "C", job_id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_file_not_done ON job_file (partner_id, audience_id DESC, generation)
  WHERE audience_id IS NOT NULL AND status <> 2 AND NOT superseded AND dismissed_at IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_unlisted ON job (partner_id, id) WHERE kind = 'audience' AND listed_at IS NULL;
