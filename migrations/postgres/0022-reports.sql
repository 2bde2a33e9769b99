-- Reports are computed by workers. The API inserts a request and waits for the report. A worker that computes it sets `retry_at`, so that
-- another one tries again if that worker dies. A request names the protection settings, so that a worker with other settings
-- does not answer it. The state is that of the audience when the report was requested.
CREATE TABLE IF NOT EXISTS report_request (
  audience_id bigint NOT NULL REFERENCES audience (id) ON DELETE CASCADE,
  split text NOT NULL,
  settings text NOT NULL,
  state text NOT NULL,
  partner_id bigint NOT NULL REFERENCES partner (id),
  requested_at timestamptz NOT NULL DEFAULT now(),
  retry_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (audience_id, split, settings)
);
CREATE INDEX IF NOT EXISTS report_request_partner ON report_request (partner_id, requested_at);
ALTER TABLE report_request ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON report_request;
CREATE POLICY of_partner ON report_request
  USING (partner_id = current_partner() AND EXISTS (SELECT FROM audience WHERE audience.id = report_request.audience_id));

-- The privacy budget: the reports with new noise of the last 30 days. Customer 0 stands for the partner itself. Workers delete older rows.
CREATE TABLE IF NOT EXISTS report_draw (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id bigint NOT NULL REFERENCES partner (id),
  customer_id bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('composition', 'overlap')),
  draws integer NOT NULL CHECK (draws > 0),
  drawn_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS report_draw_partner ON report_draw (partner_id, drawn_at);
ALTER TABLE report_draw ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON report_draw;
CREATE POLICY of_partner ON report_draw USING (partner_id = current_partner());

-- Published overlaps. The key identifies the audiences, their states, and the protection settings.
CREATE TABLE IF NOT EXISTS overlap (
  partner_id bigint NOT NULL REFERENCES partner (id),
  key text NOT NULL,
  published jsonb NOT NULL,
  computed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (partner_id, key)
);
ALTER TABLE overlap ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON overlap;
CREATE POLICY of_partner ON overlap USING (partner_id = current_partner());

-- How long requests for reports wait, for metrics.
CREATE OR REPLACE FUNCTION report_waits() RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT jsonb_build_object('reportRequests', count(*), 'oldestReportRequestSeconds', extract(epoch FROM now() - min(requested_at)))
  FROM public.report_request
$$;

-- Attributes of several partners can have the same name, so a report shows the provider, too.
CREATE OR REPLACE FUNCTION describe_attributes(bigint[]) RETURNS TABLE (id bigint, name text, provider text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT a.id, a.name, p.name FROM public.attribute a JOIN public.partner p ON p.id = a.partner_id WHERE a.id = ANY ($1)';
