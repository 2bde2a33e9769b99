-- The role of the api may add denied calls to the audit log, and nothing that looks like a change by an operator.
DROP POLICY IF EXISTS added ON audit_log;
CREATE POLICY added ON audit_log FOR INSERT WITH CHECK (event = 'call.denied');
