import type { WebhookDelivery } from '@inlet/sdk/browser';
import { api, useApi } from '../api.ts';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice, Skeleton, Time } from '../components/state.tsx';
import { visibleText } from '../components/visible-text.ts';
import { signedIn } from '../session.ts';
import { ownCustomerOf, recordOf } from './describe-event.ts';
import { describeAttempt, formatMilliseconds } from './describe-webhook.ts';

type Props = {
  readonly sequence: number;
  readonly delivery?: WebhookDelivery;
  readonly onClose: () => void;
};

/** An event as JSON, which is also the body that webhooks receive, and the attempts to deliver it. */
export function EventDialog({ sequence, delivery, onClose }: Props) {
  const { value, problem, reload } = useApi(`event ${sequence}`, (signal) =>
    api.listEvents({ query: { after: sequence - 1, limit: 1 }, signal }),
  );
  const event = value?.find((one) => one.sequence === sequence);
  const record = event && recordOf(event);
  return (
    <Dialog title={`Event ${sequence}`} onClose={onClose}>
      {delivery && <Attempts attempts={delivery.attempts} />}
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton lines={6} />}
      {value && !event && <p>The event is older than 30 days, or you cannot see events of this type.</p>}
      {event && <pre class="json">{JSON.stringify(event, null, 2).split('\n').map(visibleText).join('\n')}</pre>}
      <div class="row">
        <button type="button" onClick={onClose}>
          Close
        </button>
        {record && ownCustomerOf(event, signedIn()?.role) === null && <a href={record.href}>{record.text}</a>}
      </div>
    </Dialog>
  );
}

function Attempts({ attempts }: Pick<WebhookDelivery, 'attempts'>) {
  return (
    <table>
      <caption class="visually-hidden">Attempts, oldest first</caption>
      <thead>
        <tr>
          <th scope="col">Attempt</th>
          <th scope="col">Result</th>
          <th scope="col" class="number">
            Duration
          </th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((attempt) => (
          <tr key={attempt.at}>
            <th scope="row">
              <Time at={attempt.at} />
            </th>
            <td>{describeAttempt(attempt)}</td>
            <td class="number">{formatMilliseconds(attempt.milliseconds)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
