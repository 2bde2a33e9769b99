import { Ajv2020 } from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import type { OpenApi } from './document.ts';

export type Validators = {
  /** Validates a value against the schema at a location in the document. Returns no errors if the value is valid. */
  readonly errorsOf: (place: string, value: unknown) => string[];
};

/**
 * Validates against the document's schemas. Responses can gain fields within a version, so the document allows
 * additional fields. The tests do not, so an undocumented field is an error.
 */
export function validatorsOf(document: OpenApi): Validators {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default.default(ajv);
  ajv.addSchema({ ...document, components: closed(document.components) }, 'openapi.json');
  return {
    errorsOf: (place, value) => {
      const validate = ajv.getSchema(`openapi.json#${encodeURI(place)}`);
      if (!validate) throw new Error(`there is no schema at ${place}`);
      if (validate(value) === true) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
  };
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
