import { outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import { type OutputOptions, operatorCommand } from './output.ts';

export function addNotificationUrlCommand(program: Command): void {
  operatorCommand(
    program,
    'notification-url',
    'print the URL to which the storage sends notifications of new objects; it contains a secret token',
  ).action(async (options: OutputOptions) => {
    const { readConfig } = await import('../config.ts');
    const { notificationUrlOf } = await import('../shared-bucket.ts');
    const url = notificationUrlOf(readConfig());
    if (!url) throw new Failure('invalid_request', 'Set INLET_NOTIFICATIONS_URL. See operators/install.md.');
    outputFor(options).result({ url: url.reveal() }, () => url.reveal());
  });
}
