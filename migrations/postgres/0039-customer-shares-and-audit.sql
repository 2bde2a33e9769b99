-- The customer that has started the upload. Null for the partner itself, and for uploads that the previous release has recorded.
ALTER TABLE upload ADD COLUMN IF NOT EXISTS customer_id bigint REFERENCES customer (id) ON DELETE SET NULL;
CREATE INDEX IF NOT EXISTS upload_of_customer ON upload (customer_id) WHERE customer_id IS NOT NULL;

-- Operators cancel and retry jobs of all partners. Only the connections of the command line name an actor. The API and the workers name
-- none when they change jobs, so their changes are not recorded.
CREATE OR REPLACE TRIGGER audit_made AFTER INSERT ON job
  FOR EACH ROW WHEN (nullif(current_setting('inlet.actor', true), '') IS NOT NULL) EXECUTE FUNCTION audit_change();
CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE OF cancel_requested_at ON job
  FOR EACH ROW WHEN (nullif(current_setting('inlet.actor', true), '') IS NOT NULL) EXECUTE FUNCTION audit_change();
