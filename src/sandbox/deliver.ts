// Sends an answer, whole or spoiled by a fault. fault-plan.ts decides which request gets which fault.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './commissions.ts';
import type { FaultKind } from './fault-plan.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const UNAVAILABLE = [500, 502, 503, 504] as const;
const HTML = '<!doctype html><html><head><title>Maintenance</title></head><body>Back soon.</body></html>';

/**
 * Sends the result of `work`, or carries out the fault. FAULT_KINDS says whether a fault strikes before or after the
 * change is applied.
 */
export async function deliver(
  request: FastifyRequest,
  reply: FastifyReply,
  fault: FaultKind | null,
  work: () => Promise<Answer>,
): Promise<void> {
  switch (fault) {
    case null:
      return send(reply, await work());
    case '5xx': {
      const status = UNAVAILABLE[request.received.number % UNAVAILABLE.length] ?? 500;
      return send(reply, { status, body: JSON.stringify({ error: 'Something went wrong.' }) });
    }
    case '429':
      for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
      return send(reply, { status: 429, body: JSON.stringify({ error: 'Too many requests.' }) });
    case 'redirect':
      reply.code(302).header('location', '/elsewhere').type(JSON_TYPE).send('{}');
      return;
    case 'html':
      reply.code(200).type('text/html; charset=utf-8').send(HTML);
      return;
    case 'stall':
      reply.hijack();
      return;
    case 'reset':
      return reset(request, reply);
    case 'reset-after':
      await work();
      return reset(request, reply);
    case 'cut':
      return cut(request, reply, await work());
    case 'truncated': {
      const answer = await work();
      return send(reply, { ...answer, body: firstHalf(answer.body).toString() });
    }
    case 'no-envelope': {
      const parsed: unknown = JSON.parse((await work()).body);
      const isList = typeof parsed === 'object' && parsed !== null && 'data' in parsed;
      return send(reply, { status: 200, body: JSON.stringify(isList ? parsed.data : { status: 'ok' }) });
    }
  }
}

export function send(reply: FastifyReply, answer: Answer): void {
  reply.code(answer.status).type(JSON_TYPE).send(answer.body);
}

function reset(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
}

function cut(request: FastifyRequest, reply: FastifyReply, answer: Answer): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.setHeader('content-type', JSON_TYPE);
  reply.raw.setHeader('content-length', Buffer.byteLength(answer.body));
  reply.raw.statusCode = answer.status;
  reply.raw.write(firstHalf(answer.body), () => request.raw.socket.destroy());
}

function firstHalf(body: string): Buffer {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
