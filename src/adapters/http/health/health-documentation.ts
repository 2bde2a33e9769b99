import type { OperationDocumentation } from '../operation-documentation.ts';

export const getLiveDocumentation: OperationDocumentation = {
  summary: 'Whether the process runs',
  description: 'Asks nobody else: a database that is away is no reason to restart the process. Needs no key.',
  answer: { description: 'It runs.', example: { status: 'ok' } },
  failures: {},
};

export const getReadyDocumentation: OperationDocumentation = {
  summary: 'Whether requests can be carried out',
  description: 'Asks every server that Inlet needs. Needs no key.',
  answer: {
    description: 'Every server answers.',
    example: { status: 'ok', dependencies: { postgres: 'ok', clickhouse: 'ok', bucket: 'ok' } },
  },
  otherAnswers: {
    503: {
      description: 'A server does not answer.',
      example: { status: 'unavailable', dependencies: { postgres: 'ok', clickhouse: 'unavailable', bucket: 'ok' } },
    },
  },
  failures: {},
};
