import type { healthOperations } from '@inlet/contract/health';
import type { operations } from '@inlet/contract/operations';
import type { OperationDocumentation } from './operation-documentation.ts';
import { appendFilesDocumentation } from './routes/append-files.ts';
import { clearAudienceDocumentation } from './routes/clear-audience.ts';
import { createAudienceDocumentation } from './routes/create-audience.ts';
import { deleteAttributeDataDocumentation } from './routes/delete-attribute-data.ts';
import { followAudienceDocumentation } from './routes/follow-audience.ts';
import { followImportLogDocumentation } from './routes/follow-import-log.ts';
import { getAudienceDocumentation } from './routes/get-audience.ts';
import { getCompositionDocumentation } from './routes/get-composition.ts';
import { getImportLogDocumentation } from './routes/get-import-log.ts';
import { getLimitsDocumentation } from './routes/get-limits.ts';
import { getLiveDocumentation, getReadyDocumentation } from './routes/health.ts';
import { listAttributesDocumentation } from './routes/list-attributes.ts';
import { listAudienceErrorsDocumentation } from './routes/list-audience-errors.ts';
import { listAudiencesDocumentation } from './routes/list-audiences.ts';
import { listImportErrorsDocumentation } from './routes/list-import-errors.ts';
import { listImportFilesDocumentation } from './routes/list-import-files.ts';
import { listImportLogsDocumentation } from './routes/list-import-logs.ts';
import { queueImportDocumentation } from './routes/queue-import.ts';

/** Of every operation in the registry, by its name there: the compiler asks for a missing one. */
export const documentation: Readonly<
  Record<keyof typeof operations | keyof typeof healthOperations, OperationDocumentation>
> = {
  listImportLogs: listImportLogsDocumentation,
  getImportLog: getImportLogDocumentation,
  followImportLog: followImportLogDocumentation,
  queueImport: queueImportDocumentation,
  deleteAttributeData: deleteAttributeDataDocumentation,
  listImportErrors: listImportErrorsDocumentation,
  listImportFiles: listImportFilesDocumentation,
  listAttributes: listAttributesDocumentation,
  getLimits: getLimitsDocumentation,
  listAudiences: listAudiencesDocumentation,
  getAudience: getAudienceDocumentation,
  followAudience: followAudienceDocumentation,
  createAudience: createAudienceDocumentation,
  appendFiles: appendFilesDocumentation,
  clearAudience: clearAudienceDocumentation,
  listAudienceErrors: listAudienceErrorsDocumentation,
  getComposition: getCompositionDocumentation,
  getLive: getLiveDocumentation,
  getReady: getReadyDocumentation,
};
