import './lists.css';

/** Says how fresh a followed record is. Keeps its height, so that the page does not move. */
export function LiveHint({ isReconnecting, isOpen }: { readonly isReconnecting: boolean; readonly isOpen: boolean }) {
  return (
    <output class={`hint-live${isReconnecting ? ' lost' : ''}`}>
      {isReconnecting ? 'Connection lost. Reconnecting …' : isOpen ? 'Live' : ''}
    </output>
  );
}
