import type { Attribute, Inlet } from '@inlet/sdk';
import { valueOf } from './failures/value-of.ts';

/** Page after page: a partner may have more than one of them has. */
export async function allAttributes(inlet: Inlet): Promise<Attribute[]> {
  const { each } = await import('@inlet/sdk');
  const attributes: Attribute[] = [];
  for await (const attribute of each(({ query }) => inlet.listAttributes({ query }))) {
    attributes.push(valueOf(attribute));
  }
  return attributes;
}
