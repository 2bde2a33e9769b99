import { operations } from '@inlet/contract/operations';
import { answerRecord } from '../answer-record.ts';
import { scopeOf } from '../authentication.ts';
import { notModified, recordHeaders } from '../follow-documentation.ts';
import type { OperationDocumentation } from '../operation-documentation.ts';
import type { Api } from '../api.ts';
import {
  type OneAudienceDeps,
  audienceDetailsExample,
  audienceIdParameter,
  audienceNotFound,
  oneAudience,
} from './audience-record.ts';

export const getAudienceDocumentation: OperationDocumentation = {
  summary: 'Get the details of an audience',
  description:
    'Its status, its counts and its files. The status is that of the files: 1 while one is loading, 0 while they wait, 3 if one failed, else 2.',
  params: audienceIdParameter,
  headers: recordHeaders,
  answer: { description: 'The audience.', example: audienceDetailsExample, isTagged: true },
  otherAnswers: notModified,
  failures: audienceNotFound,
};

const { path, params, answer } = operations.getAudience;

export function addGetAudience(api: Api, deps: OneAudienceDeps, at: (path: string) => string): void {
  api.get(at(path), { schema: { params, response: { 200: answer } } }, (request, reply) =>
    answerRecord(request, reply, oneAudience(deps, scopeOf(request), request.params.audience_id)),
  );
}
