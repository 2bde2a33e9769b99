/** Two numbers of 64 bits as text, because JSON has none of that size. */
export type FingerprintKey = { readonly low: string; readonly high: string };
