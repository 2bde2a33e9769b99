import type { OperationDocumentation } from '../operation-documentation.ts';

export const getLiveDocumentation: OperationDocumentation = {
  summary: 'Whether the process runs',
  description: 'Asks nobody else: a database that is away is no reason to restart the process. Needs no key.',
  answer: { description: 'It runs.', example: { status: 'ok' } },
  failures: {},
};

export const getReadyDocumentation: OperationDocumentation = {
  summary: 'Whether requests can be taken',
  description:
    'Asks every server that Inlet needs. Only PostgreSQL decides: while the engine or the bucket is away, requests are taken and loads wait. Needs no key.',
  answer: {
    description: 'Requests are taken. `dependencies` says which server does not answer.',
    example: { status: 'ok', dependencies: { postgres: 'ok', clickhouse: 'ok', bucket: 'ok' } },
  },
  otherAnswers: {
    503: {
      description: 'PostgreSQL does not answer.',
      example: { status: 'unavailable', dependencies: { postgres: 'unavailable', clickhouse: 'ok', bucket: 'ok' } },
    },
  },
  failures: {},
};
