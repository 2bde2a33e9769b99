// Patterns are strings in the common subset of JavaScript and RE2 (no flags), because the same text judges a row
// in TypeScript and in the engine.
const hex = '[0-9a-fA-F]';

/** Decision 10: the UUID version is not checked, some platforms use v5. */
export const advertisingIdPattern = `^${hex}{8}(-${hex}{4}){3}-${hex}{12}$`;

/** Limited tracking: the platform gives out zeros for a person who opted out. */
export const zeroIdPattern = '^0{8}(-0{4}){3}-0{12}$';

/** MD5, SHA-1 and SHA-256 in hexadecimal. */
export const hashedIdPattern = `^(${hex}{32}|${hex}{40}|${hex}{64})$`;
