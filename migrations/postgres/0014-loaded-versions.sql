-- Every loaded version of a file stays in the list of the audience, so that the list explains uploaded_devices. This is a
-- separate file, because the statement reads the whole table and must not run under the locks of ALTER TABLE.
UPDATE job_file SET superseded = false WHERE superseded AND status = 2;
