/** What a click is about, as far as it matters for leaving a page. */
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
 * Asks before the reader leaves the page inside the console. Runs before the router, because it captures the events. Returns
 * the function that stops asking.
 */
export function confirmLeaving(question: string): () => void {
  const { href } = location;
  const click = (event: MouseEvent): void => {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
    if (!link || !opensInPlace(event, link, location) || confirm(question)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const back = (event: PopStateEvent): void => {
    if (confirm(question)) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', href);
  };
  addEventListener('click', click, { capture: true });
  addEventListener('popstate', back, { capture: true });
  return () => {
    removeEventListener('click', click, { capture: true });
    removeEventListener('popstate', back, { capture: true });
  };
}
