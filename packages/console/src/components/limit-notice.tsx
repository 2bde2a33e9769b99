import type { Problem } from '@inlet/sdk/browser';
import { formatExactTime } from '../format.ts';
import { Notice } from './state.tsx';

/** The budget is spent, and there is no earlier report to show. */
export function LimitNotice({ problem }: { readonly problem: Problem }) {
  return (
    <Notice kind="warn">
      <p>
        <strong>No new reports are possible now</strong>
      </p>
      <p>{problem.detail.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, formatExactTime)}</p>
      <p>
        Every new report reveals a little about the people in an audience, so their number is limited. Earlier results
        can still be opened.
      </p>
    </Notice>
  );
}
