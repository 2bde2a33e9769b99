export type Sealed = { readonly keyId: string; readonly bytes: Uint8Array };

/** Seals text so that only Inlet can read it, and only in the context for which it was sealed. */
export interface Sealer {
  seal(text: string, context: string): Sealed;
  open(sealed: Sealed, context: string): string;
}
