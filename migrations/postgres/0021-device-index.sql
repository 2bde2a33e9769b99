-- The device index in ClickHouse is updated in the background. Triggers note what has changed, so that changes by workers of the
-- previous release are noted too.

CREATE SEQUENCE IF NOT EXISTS fold_id;

-- One row per ended job that changed a partner's attributes (audience_id 0), and per change of an audience. Rows of the partner with at
-- least `from_version` and all rows of `attribute_ids` are read again. Partner 0 stands for the known devices. Folds delete the rows. After a
-- failed fold, they wait until `retry_at`.
CREATE TABLE IF NOT EXISTS index_change (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id bigint NOT NULL,
  audience_id bigint NOT NULL DEFAULT 0,
  from_version bigint NOT NULL DEFAULT 0,
  attribute_ids bigint[] NOT NULL DEFAULT '{}',
  since timestamptz NOT NULL DEFAULT now(),
  retry_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE index_change ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON index_change;
CREATE POLICY of_partner ON index_change USING (partner_id = current_partner());

-- The last complete fold of each partner's attributes. Partner 0 stands for the known devices.
CREATE TABLE IF NOT EXISTS index_fold (
  partner_id bigint PRIMARY KEY,
  fold_id bigint NOT NULL,
  folded_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE index_fold ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON index_fold;
CREATE POLICY of_partner ON index_fold USING (partner_id = current_partner());

-- The state of each audience that the index contains.
CREATE TABLE IF NOT EXISTS index_audience (
  audience_id bigint PRIMARY KEY REFERENCES audience (id) ON DELETE CASCADE,
  partner_id bigint NOT NULL REFERENCES partner (id),
  generation integer NOT NULL,
  load_id bigint NOT NULL,
  fold_id bigint NOT NULL,
  devices bigint NOT NULL,
  folded_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE index_audience ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS of_partner ON index_audience;
CREATE POLICY of_partner ON index_audience USING (partner_id = current_partner());

-- Which parts of the known devices each shard has folded.
CREATE TABLE IF NOT EXISTS index_shard (
  number integer PRIMARY KEY CHECK (number > 0),
  known_table text NOT NULL,
  known_blocks jsonb NOT NULL
);

-- A report reads the attributes of all partners, and row-level security hides their folds from the role of the API. Returns no rows while
-- the attributes of a partner are folded from the beginning, because the index then lacks some of them.
CREATE OR REPLACE FUNCTION folds_of_all() RETURNS TABLE (partner_id bigint, fold_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT f.partner_id, f.fold_id FROM public.index_fold f
  WHERE NOT EXISTS (SELECT FROM public.index_change c WHERE c.audience_id = 0 AND c.from_version = 0)
  UNION ALL SELECT 0, 0 WHERE NOT EXISTS (SELECT FROM public.index_fold) AND NOT EXISTS (SELECT FROM public.index_change c WHERE c.audience_id = 0)
$$;

CREATE OR REPLACE FUNCTION note_job_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  deleted bigint[] := '{}';
BEGIN
  IF NEW.kind = 'delete' THEN
    SELECT ARRAY(SELECT jsonb_array_elements_text(l.attribute_ids)::bigint) INTO deleted
    FROM public.import_log l WHERE l.job_id = NEW.id;
  END IF;
  INSERT INTO public.index_change (partner_id, from_version, attribute_ids)
  VALUES (NEW.partner_id, NEW.seq * 2, coalesce(deleted, '{}'));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_audience_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO public.index_change (partner_id, audience_id) VALUES (NEW.partner_id, NEW.id);
  RETURN NULL;
END $$;

-- A repair adds rows of earlier versions, so that the partner's bitmaps are replaced.
CREATE OR REPLACE FUNCTION note_repair() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO public.index_change (partner_id, audience_id)
  SELECT OLD.partner_id, coalesce((SELECT l.audience_id FROM public.audience_load l WHERE l.job_id = OLD.job_id), 0);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS note_index_change ON repair_load;
CREATE TRIGGER note_index_change AFTER DELETE ON repair_load FOR EACH ROW EXECUTE FUNCTION note_repair();

DROP TRIGGER IF EXISTS note_index_change ON job;
CREATE TRIGGER note_index_change AFTER UPDATE OF status ON job FOR EACH ROW
WHEN (OLD.status IN (0, 1) AND NEW.status IN (2, 3) AND NEW.kind IN ('import', 'delete')) EXECUTE FUNCTION note_job_change();

DROP TRIGGER IF EXISTS note_index_change ON audience;
CREATE TRIGGER note_index_change AFTER INSERT OR UPDATE OF generation, last_load_id ON audience FOR EACH ROW
WHEN (NEW.last_load_id IS NOT NULL) EXECUTE FUNCTION note_audience_change();

-- How far the index is behind, for metrics.
CREATE OR REPLACE FUNCTION index_waits() RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT jsonb_build_object('indexChanges', count(*), 'oldestIndexChangeSeconds', extract(epoch FROM now() - min(since)))
  FROM public.index_change
$$;

-- Notes everything as changed. Returns the number of changes. In one transaction, so that no report reads bitmaps that are being rebuilt.
CREATE OR REPLACE FUNCTION note_all_index_changes() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  DELETE FROM public.index_audience;
  DELETE FROM public.index_fold;
  DELETE FROM public.index_shard;
  INSERT INTO public.index_change (partner_id) SELECT DISTINCT partner_id FROM public.attribute;
  INSERT INTO public.index_change (partner_id, audience_id)
  SELECT partner_id, id FROM public.audience WHERE last_load_id IS NOT NULL;
  RETURN (SELECT count(*) FROM (SELECT DISTINCT partner_id, audience_id FROM public.index_change) AS changed);
END $$;

-- Existing data is folded in the background after the upgrade.
SELECT note_all_index_changes();
