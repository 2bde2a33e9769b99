-- outside a transaction
-- A partner's audiences together with those of its customers, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audience_of_partner ON audience (partner_id, id DESC) WHERE deleted_at IS NULL;
-- Deleted audiences that wait for the purge and for the retention of their jobs.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audience_deleted ON audience (deleted_at) WHERE deleted_at IS NOT NULL;
