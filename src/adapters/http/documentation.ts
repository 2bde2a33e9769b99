import type { healthOperations } from '@inlet/contract/health';
import type { operations } from '@inlet/contract/operations';
import { getCompositionDocumentation } from './composition/get-composition-documentation.ts';
import { appendFilesDocumentation } from './firstparty-audience/append-files-documentation.ts';
import { clearAudienceDocumentation } from './firstparty-audience/clear-audience-documentation.ts';
import { createAudienceDocumentation } from './firstparty-audience/create-audience-documentation.ts';
import { followAudienceDocumentation } from './firstparty-audience/follow-audience-documentation.ts';
import { getAudienceDocumentation } from './firstparty-audience/get-audience-documentation.ts';
import { listAudienceErrorsDocumentation } from './firstparty-audience/list-audience-errors-documentation.ts';
import { listAudiencesDocumentation } from './firstparty-audience/list-audiences-documentation.ts';
import { getLiveDocumentation, getReadyDocumentation } from './health/health-documentation.ts';
import { getLimitsDocumentation } from './limits/get-limits-documentation.ts';
import { listAttributesDocumentation } from './marketplace-attributes/list-attributes-documentation.ts';
import { deleteAttributeDataDocumentation } from './marketplace-import/delete-attribute-data-documentation.ts';
import { followImportLogDocumentation } from './marketplace-import/follow-import-log-documentation.ts';
import { getImportLogDocumentation } from './marketplace-import/get-import-log-documentation.ts';
import { listImportErrorsDocumentation } from './marketplace-import/list-import-errors-documentation.ts';
import { listImportFilesDocumentation } from './marketplace-import/list-import-files-documentation.ts';
import { listImportLogsDocumentation } from './marketplace-import/list-import-logs-documentation.ts';
import { queueImportDocumentation } from './marketplace-import/queue-import-documentation.ts';
import type { OperationDocumentation } from './operation-documentation.ts';

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
