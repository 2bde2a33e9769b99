-- Who dismissed an entry of an audience's file list, such as "user Jane" or "key 12". NULL if a release that did not record it did.
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS dismissed_by text;
ALTER TABLE audience_load ADD COLUMN IF NOT EXISTS dismissed_by text;

-- Records renames, deletions, and dismissals in the audit log. Names and paths are left out, because a deletion removes them.
CREATE OR REPLACE FUNCTION audit_audience() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit_log (event, actor, partner_id, subject_id, detail)
  VALUES (
    CASE WHEN TG_TABLE_NAME <> 'audience' THEN 'audience.dismiss'
      WHEN to_jsonb(NEW) ->> 'deleted_at' IS NULL THEN 'audience.update' ELSE 'audience.delete' END,
    audit_actor(),
    NEW.partner_id,
    coalesce(to_jsonb(NEW) ->> 'audience_id', to_jsonb(NEW) ->> 'id')::bigint,
    CASE TG_TABLE_NAME
      WHEN 'job_file' THEN jsonb_build_object('file_id', to_jsonb(NEW) ->> 'id')
      WHEN 'audience_load' THEN jsonb_build_object('file_id', 'path-' || (to_jsonb(NEW) ->> 'job_id'))
    END
  );
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION audit_audience() FROM PUBLIC;

-- The triggers run only for statements that set these columns, so loads do not evaluate their conditions.
CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE OF name, deleted_at ON audience FOR EACH ROW
  WHEN (OLD.name <> NEW.name OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at) EXECUTE FUNCTION audit_audience();
CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE OF dismissed_at ON job_file FOR EACH ROW
  WHEN (OLD.dismissed_at IS NULL AND NEW.dismissed_at IS NOT NULL) EXECUTE FUNCTION audit_audience();
CREATE OR REPLACE TRIGGER audit_changed AFTER UPDATE OF dismissed_at ON audience_load FOR EACH ROW
  WHEN (OLD.dismissed_at IS NULL AND NEW.dismissed_at IS NOT NULL) EXECUTE FUNCTION audit_audience();
