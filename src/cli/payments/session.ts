// Opens the program for the commands of `commissions` and `payouts`: with the clients only if the command asks the API.

import { ListNotServed } from '../../base/errors.ts';
import { readOptionalLists } from '../../reports/read-health.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig, readCliProgramConfig } from '../configuration.ts';
import type { ConnectedProgram } from '../connect-program.ts';
import type { Lifetime } from '../lifetime.ts';
import { makeTerminalLogger, type Opening, openMirror, type Program } from '../program.ts';
import { describeList } from '../status/sections.ts';
import { openTracing } from '../tracing.ts';

/** `connected` is the same program, null if the command neither waits nor previews. */
export interface RequestSession {
  readonly program: Program;
  readonly connected: ConnectedProgram | null;
}

/** Returns it. Opened before anything is queued, so that a command with --wait can wait. Closed with the lifetime. */
export async function openForRequests(
  cli: Cli,
  lifetime: Lifetime,
  { wait, dryRun }: { readonly wait?: true; readonly dryRun?: true },
): Promise<RequestSession> {
  const connected = wait === true || dryRun === true ? await openConnected(cli, lifetime) : null;
  return { connected, program: connected ?? (await openPaymentLedger(cli, lifetime)) };
}

/** Returns the program without its clients, with the tables up to date. Closed with the lifetime. */
export async function openPaymentLedger(cli: Cli, lifetime: Lifetime, opening?: Opening): Promise<Program> {
  const config = readCliConfig(cli);
  return openMirror(cli, lifetime, { ...opening, config, log: makeTerminalLogger(config) });
}

/** Returns the program with its clients. Closed with the lifetime. */
export async function openConnected(cli: Cli, lifetime: Lifetime): Promise<ConnectedProgram> {
  const config = readCliProgramConfig(cli);
  const log = makeTerminalLogger(config);
  await openTracing({ log, lifetime }, config.process);
  const program = await openMirror(cli, lifetime, { config, log });
  const { connectProgram } = await import('../connect-program.ts');
  return connectProgram(program, config.program.address, { isWatched: true });
}

/** Throws: ListNotServed if the API does not list payouts, as far as is known, or OPTIONAL_LISTS leaves them out. */
export async function refuseUnlistedPayouts(program: Program): Promise<void> {
  const { rows } = await readOptionalLists(program);
  const list = rows.find(({ resource }) => resource === 'payouts');
  const setting = program.optionalLists.payouts;
  if (list === undefined || setting === 'on' || (setting === 'auto' && list.is_served === true)) return;
  throw new ListNotServed(
    `nothing was read or sent, as payouts are not listed: ${describeList({ ...list, setting, is_used: false })}; check AFFILIATE_API_URL and OPTIONAL_LISTS, then run "affiliate-mirror sync payouts"`,
  );
}
