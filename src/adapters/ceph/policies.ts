type Statement = {
  readonly Effect: 'Allow';
  readonly Principal?: { readonly AWS: readonly string[] };
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: { readonly StringLike: Readonly<Record<string, readonly string[]>> };
};

export type Policy = { readonly Version: '2012-10-17'; readonly Statement: readonly Statement[] };

/** Allows only reading, writing, deleting, and listing inside the prefix. */
export function partnerInsidePrefix(bucket: string, prefix: string): Policy {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Action: [
          's3:GetObject',
          's3:PutObject',
          's3:DeleteObject',
          's3:AbortMultipartUpload',
          's3:ListMultipartUploadParts',
        ],
        Resource: [`arn:aws:s3:::${bucket}/${prefix}*`],
      },
      {
        Effect: 'Allow',
        Action: ['s3:ListBucket'],
        Resource: [`arn:aws:s3:::${bucket}`],
        Condition: { StringLike: { 's3:prefix': [`${prefix}*`] } },
      },
    ],
  };
}

export function ownerReadsAll(bucket: string, ownerId: string): Policy {
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { AWS: [`arn:aws:iam:::user/${ownerId}`] },
        Action: ['s3:GetObject'],
        Resource: [`arn:aws:s3:::${bucket}/*`],
      },
    ],
  };
}
