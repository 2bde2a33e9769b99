import type { Attribute } from '../domain/attribute.ts';
import { Failure } from '../domain/failure.ts';
import type { AttributeStore } from '../ports/attribute-store.ts';
import type { PartnerStore } from '../ports/partner-store.ts';

type Deps = { readonly partners: PartnerStore; readonly attributes: AttributeStore };
type NewAttribute = { readonly name: string; readonly foreignKeys: readonly string[] };

export async function createAttribute(deps: Deps, partnerName: string, attribute: NewAttribute): Promise<Attribute> {
  const partner = await deps.partners.findByName(partnerName);
  if (!partner) throw new Failure('not_found', `There is no partner "${partnerName}".`);
  // eslint-disable-next-line no-control-regex -- a key with a control character could never stand in a file
  const wrong = attribute.foreignKeys.find((key) => !/^[^|\u0000-\u001f\u007f]{1,200}$/u.test(key));
  if (wrong !== undefined) {
    throw new Failure(
      'invalid_request',
      `"${wrong}" cannot be a foreign key: 1 to 200 characters, no "|", no control characters.`,
    );
  }
  return deps.attributes.create(partner.id, attribute);
}
