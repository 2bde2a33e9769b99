/** A valid advertising ID derived from a number. */
export function device(n: number): string {
  return `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')}`;
}
