import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

type PageProps = {
  readonly title: string;
  readonly sub?: ComponentChildren;
  /** Buttons and links to the right of the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** The address of the document, until the reader opens another page. */
let firstPath: string | null = location.pathname;

/**
 * A page with a heading, which receives the focus when the reader navigates to the page. After the document is loaded,
 * the focus stays at its start, where browsers put it.
 */
export function Page({ title, sub, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Inlet`;
  }, [title]);
  // Focuses the heading before the page is painted. Later, this would take the focus from a reader who has already
  // pressed Tab.
  useLayoutEffect(() => {
    if (location.pathname === firstPath) return;
    firstPath = null;
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="stack">
      <div class="row">
        <div>
          <h1 ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {title}
          </h1>
          {sub !== undefined && <p class="muted small">{sub}</p>}
        </div>
        {actions !== undefined && <div class="row push no-print">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

function returnFocus(): void {
  if (document.querySelector('dialog[open]')) return;
  if (opener instanceof HTMLElement) opener.focus();
  opener = null;
}

type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ComponentChildren };

/** The element that opened the dialog or, if several dialogs opened in sequence, the first of them. */
let opener: Element | null = null;

/**
 * A modal dialog. The browser keeps the focus inside and closes it on Escape. Then the focus returns to the element
 * that opened it.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (document.activeElement !== document.body) opener = document.activeElement;
    dialog.current?.showModal();
    return () => setTimeout(returnFocus);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <div class="stack">
        <h2 id={titleId} style={{ fontSize: 'var(--text-l)' }}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

type CopyProps = { readonly text: string; readonly isPrimary?: boolean; readonly children?: ComponentChildren };

/**
 * Copies text and shows whether this succeeded. Browsers refuse to copy on pages without TLS or if the user does not
 * allow it.
 */
export function CopyButton({ text, isPrimary = false, children }: CopyProps) {
  const [result, setResult] = useState('');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setResult('Copied.');
    } catch {
      setResult('The browser cannot copy here. Select the text and copy it.');
    }
  }
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : undefined} onClick={() => void copy()}>
        Copy{children}
      </button>
      <output class="small muted">{result}</output>
    </>
  );
}

/** A command that the reader copies to a terminal. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="row" style={{ flexWrap: 'nowrap' }}>
      <code style={{ flex: 1 }}>{text}</code>
      <CopyButton text={text}>
        <span class="visually-hidden"> the command {text}</span>
      </CopyButton>
    </div>
  );
}

/** One entry of a `<dl class="facts">`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
