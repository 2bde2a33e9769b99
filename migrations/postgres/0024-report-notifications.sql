-- Workers start to compute a requested report, and the API returns a finished one, without waiting for the next poll.
CREATE OR REPLACE FUNCTION notify_requested_report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('inlet_report_requests', NEW.partner_id::text);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION notify_finished_report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('inlet_finished_reports', OLD.partner_id::text);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER notify_requested AFTER INSERT ON report_request
  FOR EACH ROW EXECUTE FUNCTION notify_requested_report();
CREATE OR REPLACE TRIGGER notify_requested_again AFTER UPDATE OF state ON report_request
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION notify_requested_report();
CREATE OR REPLACE TRIGGER notify_finished AFTER DELETE ON report_request
  FOR EACH ROW EXECUTE FUNCTION notify_finished_report();
