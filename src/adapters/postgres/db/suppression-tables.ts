import type { ColumnType, Generated } from 'kysely';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type SuppressionTable = {
  only_row: Generated<boolean>;
  version: Generated<number>;
  last_version: Generated<number>;
  hashes: Generated<number>;
  content: Generated<string>;
  stand_in_key: Generated<string>;
  changed_at: Timestamp;
};
