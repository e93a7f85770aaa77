// Stripe's list of customers as its API answers it, on loopback: newest first, 100 to a page, each page asked for by
// the last customer of the one before. Pages are built before anything is measured.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PATH = '/v1/customers';
const PAGE = 100;
const FIRST_SECOND = Date.UTC(2023, 0, 1) / 1000;

/** Returns the port of a server that has so many customers. It ends with the bench. */
export async function serveCustomers(cleanup: AsyncDisposableStack, count: number): Promise<number> {
  const pages = new Map<string | null, Buffer>();
  for (let start = 0; start < count; start += PAGE) {
    const end = Math.min(count, start + PAGE);
    const data = Array.from({ length: end - start }, (_, index) => inventCustomer(count - 1 - start - index));
    const page = { object: 'list', url: PATH, has_more: end < count, data };
    pages.set(start === 0 ? null : idOf(count - start), Buffer.from(JSON.stringify(page)));
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const isAsExpected = pathname === PATH && searchParams.get('limit') === String(PAGE);
    const body = isAsExpected ? pages.get(searchParams.get('starting_after')) : undefined;
    if (body === undefined) return response.writeHead(404).end('{}');
    return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  cleanup.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  return (server.address() as AddressInfo).port;
}

function idOf(number: number): string {
  return `cus_${String(number).padStart(14, '0')}`;
}

/** Source: the customer object of Stripe's API reference, with every field that the peer's table has. */
function inventCustomer(number: number): object {
  return {
    id: idOf(number),
    object: 'customer',
    address: {
      city: 'Wien',
      country: 'AT',
      line1: `Gasse ${number}`,
      line2: null,
      postal_code: '1010',
      state: null,
    },
    balance: 0,
    created: FIRST_SECOND + number * 61,
    currency: 'usd',
    default_source: null,
    delinquent: false,
    description: `Customer ${number}`,
    discount: null,
    email: `customer.${number}@mail.example.com`,
    invoice_prefix: String(number).padStart(8, '0'),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: { source: 'bench' },
    name: `Zoë Lovelace ${number}`,
    next_invoice_sequence: 1 + (number % 40),
    phone: null,
    preferred_locales: ['de'],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}
