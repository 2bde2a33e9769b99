-- outside a transaction
-- Finds purged generations to remove.
CREATE INDEX CONCURRENTLY IF NOT EXISTS dead_generation_purged ON dead_generation (purged_at) WHERE purged_at IS NOT NULL;
