// The configured channels of alerts.

import type { AlertSettings } from '../../config/process/alerts.ts';
import { makeEmail } from './email.ts';
import type { Channel } from './message.ts';
import { makeWebhook } from './webhook.ts';

/** Empty if none is configured. */
export function makeChannels({ webhook, email }: AlertSettings): Channel[] {
  return [...(webhook === null ? [] : [makeWebhook(webhook)]), ...(email === null ? [] : [makeEmail(email)])];
}
