import type { CatalogueEntry } from './catalogue-entry.ts';

/** What the storage of a partner's own bucket, and the way to it, can say. A part of the failure catalogue. */
export const partnerBucketFailures = {
  storage_credentials_rejected: {
    title: 'The credentials were rejected by the storage',
    cause: 'The access key is unknown to the storage, or its secret is wrong.',
    remedy: 'Check accessKeyId and secretAccessKey, and that the key is active, then queue the import again.',
    fault: 'partner',
  },
  bucket_not_found: {
    title: 'The bucket does not exist',
    cause: 'The storage knows no bucket of this name.',
    remedy: 'Check the name in `s3://<bucket>/<path>` and queue the import again.',
    fault: 'partner',
  },
  storage_access_denied: {
    title: 'The storage denied access',
    cause: 'The credentials are valid, but may not list or read this path.',
    remedy: 'Allow s3:ListBucket on the bucket and s3:GetObject on the path for this key, then queue the import again.',
    fault: 'partner',
  },
  storage_refused: {
    title: 'The storage refused the request',
    cause: 'The storage of the bucket answered with an error of the 400s that has no code of its own here.',
    remedy:
      'The message names the answer of the storage; look it up in its documentation, then queue the import again.',
    fault: 'partner',
  },
  bucket_in_other_region: {
    title: 'The bucket is in another region',
    cause: 'The storage answered with a redirect: the bucket is not in the region of the request. Inlet follows none.',
    remedy: 'Send the region in which the bucket was made.',
    fault: 'partner',
  },
  role_refused: {
    title: 'The role could not be assumed',
    cause: 'The role does not exist, or its trust policy does not allow Inlet with the ExternalId made for you.',
    remedy:
      'Let the trust policy of the role allow `sts:AssumeRole` for the identity and with the ExternalId that the operator gave you, then queue the import again.',
    fault: 'partner',
  },
  role_unprotected: {
    title: 'The role asks for no ExternalId',
    cause: 'The role can be assumed with any ExternalId, so that somebody else could name it and read your bucket.',
    remedy:
      'Add the condition `StringEquals` of `sts:ExternalId` with the ExternalId that the operator gave you to the trust policy of the role, then queue the import again.',
    fault: 'partner',
  },
  storage_address_refused: {
    title: 'The storage is not at a public address',
    cause:
      'The name of the storage that holds partner-owned buckets leads to an address that is not public: loopback, private, link-local, multicast or reserved. Nothing was sent to it.',
    remedy:
      'Find out who answers for this name. If it is storage on premises, or an endpoint of AWS inside of your own network, name its network in INLET_PARTNER_S3_NETWORKS.',
    fault: 'operator',
  },
} as const satisfies Record<string, CatalogueEntry>;
