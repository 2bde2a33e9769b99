import { visibleText } from './visible-text.ts';

/** A name, path, or row from an external source. Its text direction does not affect the text around it. */
export function GivenText({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>;
}
