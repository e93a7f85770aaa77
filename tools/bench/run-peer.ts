// `node run-peer.ts DIRECTORY DATABASE_URL PORT`: the peer in a process of its own. Makes its tables, mirrors the list
// of customers as its own backfill does, and prints how many there were and how long that took: its start and its
// migrations are no part of it.

import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What is used of the packages, which are installed in the directory alone. */
interface Peer {
  runMigrations(config: { databaseUrl: string; schema: string; logger: object }): Promise<void>;
  readonly StripeSync: new (
    config: object,
  ) => {
    stripe: unknown;
    syncCustomers(): Promise<{ synced: number }>;
    close(): Promise<void>;
  };
}
type Sdk = new (key: string, config: object) => unknown;

/** What run-peer.ts prints. */
export interface PeerRun {
  readonly synced: number;
  readonly ms: number;
}

const KEY = 'sk_test_bench';
/** The peer's own default. */
const SCHEMA = 'stripe';

const [directory = '', databaseUrl = '', port = ''] = process.argv.slice(2);
const load = createRequire(join(directory, 'package.json'));
const { runMigrations, StripeSync } = load('@supabase/stripe-sync-engine') as Peer;
const Stripe = load('stripe') as Sdk;

// It logs a migration that fails, and goes on.
const logger = {
  info() {},
  error(error: unknown) {
    throw error;
  },
};
await runMigrations({ databaseUrl, schema: SCHEMA, logger });
const peer = new StripeSync({
  schema: SCHEMA,
  stripeSecretKey: KEY,
  stripeWebhookSecret: 'whsec_bench',
  poolConfig: { connectionString: databaseUrl },
});
// It has no setting for another address than Stripe's.
peer.stripe = new Stripe(KEY, { host: '127.0.0.1', port, protocol: 'http', telemetry: false });
const startedMs = performance.now();
const { synced } = await peer.syncCustomers();
const run: PeerRun = { synced, ms: performance.now() - startedMs };
await peer.close();
process.stdout.write(JSON.stringify(run));
