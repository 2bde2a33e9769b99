import { invalidPage, pageParameters } from '../common-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import { audienceId, noSuchAudience } from './audience-documentation.ts';

export const listAudienceErrorsDocumentation: OperationDocumentation = {
  summary: 'List the errors of an audience',
  description:
    "Paths without files, failed files, and the first refused rows of each file and reason. Kept 90 days. As CSV with `Accept: text/csv`; there a text that a spreadsheet would take for a formula has a `'` before it.",
  params: audienceId,
  query: pageParameters,
  answer: {
    description: 'A page of errors.',
    example: [
      {
        file: 'acme/acme/summer/2.csv',
        row: null,
        column: null,
        code: 'bad_rows',
        message: '1 of 1000 rows were rejected; 0 may be.',
        text: null,
      },
      {
        file: 'acme/acme/summer/2.csv',
        row: 17,
        column: 'id',
        code: 'invalid_id',
        message: 'The advertising id is not of the form 8-4-4-4-12 hexadecimal digits.',
        text: 'not-an-id,click',
      },
    ],
    csv: 'file,row,column,code,message,text\r\nacme/acme/summer/2.csv,,,bad_rows,1 of 1000 rows were rejected; 0 may be.,\r\n',
    isPaged: true,
  },
  failures: { ...noSuchAudience, ...invalidPage },
};
