-- All cells of a published report, for exports and for comparisons with another report. Each cell is the array
-- [attribute, value, devices, warehouse devices, small].
ALTER TABLE composition ADD COLUMN IF NOT EXISTS cells jsonb;

-- The stored counts of reports that are split by country lack the number of devices in each country.
DELETE FROM composition WHERE split = 'country' AND NOT report ? 'countries';
