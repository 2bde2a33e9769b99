-- With which Inlet assumes roles of a partner (sts:ExternalId): made here, different for each, and never chosen by one.
ALTER TABLE partner ADD COLUMN IF NOT EXISTS external_id uuid NOT NULL DEFAULT gen_random_uuid();
