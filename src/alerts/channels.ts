// The channels that are set up.

import type { AlertSettings } from '../config/alerts.ts';
import type { Channel } from './channel.ts';
import { makeEmail } from './email.ts';
import { makeWebhook } from './webhook.ts';

/** Returns them; none where none is. */
export function makeChannels({ webhook, email }: AlertSettings): Channel[] {
  return [...(webhook === null ? [] : [makeWebhook(webhook)]), ...(email === null ? [] : [makeEmail(email)])];
}
