import type { CreateWebhook } from './generated/schemas.ts';

/** A type of event that a webhook can be restricted to. */
export type SelectableEventType = NonNullable<CreateWebhook['event_types']>[number];

// The compiler reports a missing or unknown type.
const selectable: Readonly<Record<SelectableEventType, true>> = {
  'import.finished': true,
  'import.failed': true,
  'import.rejects.finished': true,
  'import.rejects.failed': true,
  'delete.finished': true,
  'delete.failed': true,
  'audience.file.finished': true,
  'audience.ready': true,
  'audience.cleared': true,
  'audience.deleted': true,
  'audience.rejects.finished': true,
  'audience.rejects.failed': true,
  'report.ready': true,
  'subscription.too_many_objects': true,
  'webhook.failing': true,
  'webhook.disabled': true,
};

export function isSelectableEventType(type: string): type is SelectableEventType {
  return Object.hasOwn(selectable, type);
}

/** The types of events that a webhook can be restricted to. */
export const selectableEventTypes: readonly SelectableEventType[] =
  Object.keys(selectable).filter(isSelectableEventType);
