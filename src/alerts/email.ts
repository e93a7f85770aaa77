// Messages as e-mail. The attempts at one message have the same Message-ID, and that it is well again answers the
// message that it was not, so that mail programs show both as one conversation.

import type { EmailSettings } from '../config/alerts.ts';
import type { Channel } from './channel.ts';
import type { Message } from './message.ts';
import { deliver } from './smtp-delivery.ts';

/** The longest subject: mail programs cut what is longer. */
const MOST_SUBJECT = 150;

/** Returns the channel. nodemailer is loaded with the first message. */
export function makeEmail(settings: EmailSettings): Channel {
  const { hostname, port } = new URL(settings.smtpUrl);
  const readers = settings.to.length === 1 ? '1 address' : `${settings.to.length} addresses`;
  return {
    kind: 'email',
    name: `${readers} through ${hostname}${port === '' ? '' : `:${port}`}`,
    send: async (message, control) => deliver(settings, await compose(settings, message), control),
  };
}

/** Returns the text of the e-mail. */
export function toText({ title, facts }: Message): string {
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${value}`);
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}.\n\n${lines.join('\n')}\n`;
}

async function compose({ from, to }: EmailSettings, message: Message): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const idOf = (key: string) => `<${key}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  const follows =
    message.follows === null ? {} : { inReplyTo: idOf(message.follows), references: idOf(message.follows) };
  const composer = new MailComposer({
    from,
    to: [...to],
    subject: `affiliate-mirror: ${message.title}`.slice(0, MOST_SUBJECT),
    text: toText(message),
    messageId: idOf(message.key),
    ...follows,
    // Source: RFC 3834. Keeps out-of-office replies away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
