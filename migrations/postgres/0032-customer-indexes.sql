-- outside a transaction
-- Removing a customer finds the rows that refer to it, and the tokens of one customer are listed by ID.
CREATE INDEX CONCURRENTLY IF NOT EXISTS user_token_of_customer ON user_token (customer_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audience_of_customer ON audience (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS event_of_customer ON event (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS console_session_of_customer ON console_session (customer_id)
  WHERE customer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS console_link_of_customer ON console_link (customer_id) WHERE customer_id IS NOT NULL;
