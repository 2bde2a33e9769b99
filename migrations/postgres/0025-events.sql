-- The event log of each partner. Sequence numbers have no gaps and follow the commit order, because a transaction holds the lock on the
-- counter until it commits. Workers delete events after 30 days.
CREATE TABLE IF NOT EXISTS event_counter (
  partner_id bigint PRIMARY KEY REFERENCES partner (id),
  last_sequence bigint NOT NULL
);
ALTER TABLE event_counter ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON event_counter;
CREATE POLICY of_partner ON event_counter USING (partner_id = current_partner());

-- Without a customer, the event concerns the partner itself.
CREATE TABLE IF NOT EXISTS event (
  partner_id bigint NOT NULL REFERENCES partner (id),
  sequence bigint NOT NULL,
  customer_id bigint REFERENCES customer (id),
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (partner_id, sequence)
);
CREATE INDEX IF NOT EXISTS event_created ON event (created_at);
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON event;
CREATE POLICY of_partner ON event USING (
  partner_id = current_partner() AND (current_customer() IS NULL OR customer_id = current_customer()));
