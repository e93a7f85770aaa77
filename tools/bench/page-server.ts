// The program's API in a process of its own: pages are built before anything is measured and kept in memory. Many
// programs are one, each under a path of its own. Checks no secret: that is not measured.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  countReferrals,
  findAffiliate,
  inventCommission,
  inventListedAffiliate,
  inventReferral,
  type ProgramState,
} from './invent-program.ts';

/** A state to serve from now on, answered by ServerReady; or when the requests for it came, answered by Arrivals. */
export type Question = ProgramState | 'arrivals';

/** In milliseconds, by the path of the program. */
export type Arrivals = Readonly<Record<string, readonly number[]>>;

/** What the process sends to its parent once the pages of a state are built. */
export interface ServerReady {
  readonly port: number;
  readonly bytesPerPage: number;
}

interface List {
  readonly total: number;
  /** By its position, newest first. */
  record(position: number): object;
}

/** The page size that every sync asks for. */
const LIMIT = 100;

let lists: { readonly affiliates: List; readonly referrals: List };
let state: ProgramState;
let prebuilt = new Map<string, Buffer>();
let paidAt = new Map<string, string>();
let arrivals: Record<string, number[]> = {};

const COMMISSION = '/v1/commissions/';

const server = createServer((request, response) => {
  const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const program = path.slice(0, Math.max(0, path.indexOf('/v1/')));
  const pathname = path.slice(program.length);
  arrivals[program] ??= [];
  arrivals[program].push(performance.now());
  const page = Number(searchParams.get('page') ?? 1);
  const limit = Number(searchParams.get('limit') ?? 25);
  const affiliateId = searchParams.get('affiliate_id');
  if (pathname === '/v1/affiliates')
    return send(response, pageOf('affiliates', lists.affiliates, page, limit));
  if (pathname.startsWith(COMMISSION)) {
    return answerCommission(request, response, pathname.slice(COMMISSION.length));
  }
  if (pathname !== '/v1/referrals') return response.writeHead(404).end('{"error":"Not found"}');
  if (affiliateId !== null) return send(response, buildPage(referralsOf(affiliateId), page, limit));
  return send(response, pageOf('referrals', lists.referrals, page, limit));
});

process.on('message', (question: Question) => {
  if (question === 'arrivals') {
    process.send?.(arrivals);
    return;
  }
  state = question;
  const { affiliates } = state;
  const referrals = countReferrals(state);
  lists = {
    affiliates: {
      total: affiliates,
      record: (position) => inventListedAffiliate(state, affiliates - 1 - position),
    },
    referrals: { total: referrals, record: (position) => inventReferral(state, referrals - 1 - position) },
  };
  prebuilt = new Map();
  paidAt = new Map();
  arrivals = {};
  for (const [name, list] of Object.entries(lists)) {
    for (let page = 1; page <= Math.ceil(list.total / LIMIT); page += 1) {
      prebuilt.set(`${name} ${page}`, buildPage(list, page, LIMIT));
    }
  }
  const ready = () => {
    const { port } = server.address() as AddressInfo;
    const answer: ServerReady = { port, bytesPerPage: prebuilt.get('referrals 1')?.length ?? 0 };
    process.send?.(answer);
  };
  if (server.listening) ready();
  else server.listen(0, '127.0.0.1', ready);
});
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});

async function answerCommission(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<void> {
  if (request.method === 'PUT') {
    const timestamp = new URLSearchParams(await text(request)).get('paid_at');
    if (timestamp !== null) paidAt.set(id, timestamp);
  }
  send(response, Buffer.from(JSON.stringify(inventCommission(state, id, paidAt.get(id) ?? null))));
}

function pageOf(name: string, list: List, page: number, limit: number): Buffer {
  const built = limit === LIMIT ? prebuilt.get(`${name} ${page}`) : undefined;
  return built ?? buildPage(list, page, limit);
}

function referralsOf(affiliateId: string): List {
  const affiliate = findAffiliate(state, affiliateId);
  if (affiliate === null) return { total: 0, record: () => ({}) };
  const total = Math.floor((countReferrals(state) - 1 - affiliate) / state.affiliates) + 1;
  return {
    total,
    record: (position) => inventReferral(state, affiliate + (total - 1 - position) * state.affiliates),
  };
}

function buildPage({ total, record }: List, page: number, limit: number): Buffer {
  const start = (page - 1) * limit;
  const count = Math.max(0, Math.min(limit, total - start));
  const totalPages = Math.ceil(total / limit);
  const pagination = {
    previous_page: page > 1 ? page - 1 : null,
    current_page: page,
    next_page: page < totalPages ? page + 1 : null,
    count,
    limit,
    total_pages: totalPages,
    total_count: total,
  };
  const data = Array.from({ length: count }, (_, index) => record(start + index));
  return Buffer.from(JSON.stringify({ pagination, data }));
}

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}
