import { aboutEvents, eventHeaders, eventsExample, nothingToFollow, tooManyStreams } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { importLogExample, importLogId, noSuchImport } from './import-documentation.ts';

export const followImportLogDocumentation: OperationDocumentation = {
  summary: 'Follow an import',
  description: aboutEvents,
  params: importLogId,
  headers: eventHeaders,
  answer: { description: 'The stream.', events: eventsExample(importLogExample) },
  otherAnswers: nothingToFollow,
  failures: { ...noSuchImport, ...tooManyStreams },
};
