/** The properties of a click that determine whether it leaves the page. */
export type Click = Pick<MouseEvent, 'button' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

type Link = Pick<HTMLAnchorElement, 'target' | 'origin' | 'download'> & { readonly href: string };

/** Whether a click on a link replaces the page without a new document. The browser itself asks before a new document. */
export function opensInPlace(click: Click, link: Link, { origin, href }: { origin: string; href: string }): boolean {
  if (click.button !== 0 || click.ctrlKey || click.metaKey || click.altKey || click.shiftKey) return false;
  if (!/^(_self)?$/i.test(link.target) || link.download !== '' || link.origin !== origin) return false;
  return withoutFragment(link.href) !== withoutFragment(href);
}

function withoutFragment(href: string): string {
  return href.split('#')[0] ?? '';
}

/**
 * The question that the open page asks, with the address of the page. Null if the reader can leave without a question.
 */
let asked: { readonly question: string; readonly href: string } | null = null;

/** Call before the router listens, because the browser calls window listeners in the order in which they were added. */
export function watchLeaving(): void {
  addEventListener('click', onClick, { capture: true });
  addEventListener('popstate', onBack);
}

/**
 * Asks for confirmation before the reader navigates to another page of the console. Returns the function that stops
 * asking.
 */
export function confirmLeaving(question: string): () => void {
  asked = { question, href: location.href };
  return () => {
    asked = null;
  };
}

function onClick(event: MouseEvent): void {
  if (!asked) return;
  const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
  if (!link || !opensInPlace(event, link, location) || confirm(asked.question)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function onBack(event: PopStateEvent): void {
  if (!asked || confirm(asked.question)) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', asked.href);
}
