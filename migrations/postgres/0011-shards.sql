-- The cluster that holds the data: one row per shard, in the order that decides where a device is stored.
CREATE TABLE IF NOT EXISTS shard (
  number int PRIMARY KEY CHECK (number > 0),
  identity uuid NOT NULL UNIQUE,
  weight int NOT NULL CHECK (weight > 0),
  recorded_at timestamptz NOT NULL DEFAULT now()
);

-- The role of the api cannot read tables that have no partner.
CREATE OR REPLACE FUNCTION recorded_shards() RETURNS TABLE (number int, identity uuid, weight int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.number, s.identity, s.weight FROM public.shard s ORDER BY s.number $$;
