import './lists.css';

/** Shows whether a followed record is up to date. Its height stays the same, so that the page does not move. */
export function LiveHint({ isReconnecting, isOpen }: { readonly isReconnecting: boolean; readonly isOpen: boolean }) {
  return (
    <output class={`hint-live${isReconnecting ? ' lost' : ''}`}>
      {isReconnecting ? 'Connection lost. Reconnecting …' : isOpen ? 'Live' : ''}
    </output>
  );
}
